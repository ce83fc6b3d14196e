import { writeAgainCommand } from '../model/folder-written.ts';
import { LIMITS } from '../model/limit-table.ts';
import { phaseOf, type RunState } from '../model/run-state.ts';
import type { TaskFailure } from '../model/task-failure.ts';
import { plainLine } from '../text/plain-text.ts';
import { shellWord } from '../text/shell-word.ts';
import { capUseOf } from './cap-use.ts';
import { playCommandOf } from './play-command.ts';
import type { RunReading } from './read-run.ts';
import { endsAtDeadline, type RunStanding } from './run-state.ts';

/** Where the work of a finished run is: only on its branch, merged into the checked-out one, or nowhere any more. */
export type WorkPlace = 'branch' | 'merged' | 'gone';

/** Commands that continue the run, the most likely first; empty while an engine is running. */
export function nextCommandsOf(
  reading: RunReading,
  { state, waitingFor }: RunStanding,
  failures: readonly TaskFailure[],
  now: number,
  place: WorkPlace = 'branch',
): string[] {
  const phase = phaseOf(state);
  if (phase === 'finished') {
    const { madeAt } = reading.published ?? {};
    const run = madeAt === undefined ? [] : [playCommandOf(madeAt, reading.definition.options)];
    const write = reading.folderProblem === null ? [] : [writeAgainCommand(reading.row.name)];
    const retry = failures.flatMap(({ next }) => next);
    return [...new Set([...write, ...retry, ...run, ...workCommandsOf(reading, state, place)])];
  }
  if (waitingFor?.for === 'answer') {
    return waitingFor.questions.map(({ id, options: [first] }) => answerCommand(id, first));
  }
  if (phase !== 'stopped') return [];
  return [resumeCommand(reading, now)];
}

/** What can be done with the work that was delivered: diff, then merge, then drop. */
function workCommandsOf({ row: { name }, board, published }: RunReading, state: RunState, place: WorkPlace): string[] {
  if (published?.branch === undefined || place === 'gone') return [];
  if (place === 'merged') return [`squad drop ${name}`];
  if (board.branch.head === board.facts.base) return [];
  return [`squad diff ${name}`, `squad merge ${name}${state === 'done' ? '' : ' --unverified'}`];
}

export function answerCommand(id: string, first: string | undefined): string {
  return `squad answer ${shellWord(plainLine(id))} ${first === undefined ? '"…"' : shellWord(plainLine(first))}`;
}

/** With the options for the limit reached and the deadline passed, because the run would only stop there again. */
export function resumeCommand(reading: RunReading, now: number): string {
  const passed = endsAtDeadline(reading, now);
  const command = `squad resume ${reading.row.name}${passed === undefined ? '' : ' --past-deadline'}`;
  if (!isAtLimit(reading)) return command;
  const reached = capUseOf(reading).filter(({ level, reached: over }) => level === 'run' && over);
  const raises = reached.map(({ limit, most }) => {
    const flag = LIMITS.find(({ key }) => key === limit)?.flag;
    return flag === undefined ? '' : ` ${flag.name} ${2 * Math.ceil(most)}`;
  });
  return `${command}${raises.join('')}`;
}

/** The last engine stopped at a limit of the run. */
export function isAtLimit({ decided }: Pick<RunReading, 'decided'>): boolean {
  return decided?.next === 'stop' && decided.because === 'limit';
}
