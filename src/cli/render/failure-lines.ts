import { cascadeText } from '../../model/plan/cascade.ts';
import type { TaskFailure } from '../../model/task-failure.ts';
import type { Rejection } from '../../model/rejection.ts';
import type { StuckTask } from '../../view/stuck-tasks.ts';
import { plainLine } from '../../text/plain-text.ts';
import { unsaid } from '../../text/reasons.ts';

/** A failed task in a few lines: the reason, as far as `said` lacks it, last words, failed tool calls, its work and the next command. */
export function failureLines(failures: readonly TaskFailure[], said = ''): string[] {
  return failures.flatMap((failure) => linesOf(failure, said));
}

/** A task that is stuck, or the run, with the reason and the commands that act on it. */
export function stuckLines(stuck: readonly StuckTask[]): string[] {
  return stuck.flatMap(({ task, why, next }) => [
    line('stuck', `${task ?? 'the run'}: ${plainLine(why, 300)}`),
    ...next.map((command) => line('next', command)),
  ]);
}

function linesOf(
  { task, as, title, why, agent, lastWords, ended, errors, work, next, cancelled }: TaskFailure,
  said: string,
): string[] {
  const cause = unsaid(why, said);
  return [
    line(as, `${task} — ${plainLine(title, 80)}${cause === '' ? '' : `: ${plainLine(cause, 300)}`}`),
    ...(cancelled.length === 0
      ? []
      : [line('cancelled', plainLine(`${cascadeText(cancelled.length)}: ${cancelled.join(', ')}`, 300))]),
    ...(agent === null || lastWords === null ? [] : [line('said', `${agent}: ${plainLine(lastWords, 300)}`)]),
    ...(agent === null || ended === null ? [] : [line('ended', `the turn of ${agent}: ${plainLine(ended, 300)}`)]),
    ...errors.map(({ tool, input, output, denied }) => {
      const call = plainLine(`${tool} ${input}`, 240);
      return line(denied ? 'denied' : 'error', `${call}${output === '' ? '' : `: ${plainLine(output, 400)}`}`);
    }),
    ...(work === null ? [] : [line('work', work.show)]),
    ...next.map((command) => line('next', command)),
  ];
}

/** Each round of a review that rejected for the last time, and the file with the full texts. */
export function rejectionLines(rejections: readonly Rejection[], said = ''): string[] {
  return rejections.flatMap(({ stage, task, cap, rounds, file }) => [
    line(
      'rejected',
      `${whatOf(stage, task)} in round ${rounds.at(-1)?.round ?? 0} of ${cap}. The reviewers asked for:`,
    ),
    ...rounds.map(({ round, text, repeated }, index) => {
      const same = repeated ? ' (not converging: the same findings as in the round before)' : '';
      const before = rounds.slice(0, index).some((one) => one.text === text);
      const asked = before ? '' : unsaid(text, said);
      return line(`round ${round}`, `${asked === '' ? 'as above' : plainLine(asked, 400)}${same}`);
    }),
    line('all of it', file),
  ]);
}

function whatOf(stage: string, task: string | null): string {
  if (task === null) return `all of the work by ${stage}`;
  return task === stage ? task : `${task} by ${stage}`;
}

function line(label: string, text: string): string {
  return `${label.padEnd(9)} ${text}`;
}
