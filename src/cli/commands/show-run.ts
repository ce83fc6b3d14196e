import type { RunEnd, RunningRun } from '../../read-model/running-run.ts';
import { exitCodeOf } from '../../model/run-state.ts';
import { errorText, isSquadError } from '../../model/errors.ts';
import type { RunEvent } from '../../model/run-event.ts';
import type { CommandContext } from '../command-context.ts';
import { printedLine } from '../error-line.ts';
import { handleInterrupts } from '../interrupts.ts';
import type { Output } from '../output.ts';
import { isShown, levelOf } from '../render/event-level.ts';
import { failureLines } from '../render/failure-lines.ts';
import { plainLine } from '../../text/plain-text.ts';
import { reasons, renderRunEvent } from '../render/run-lines.ts';
import { createProgress } from '../render/run-progress.ts';

/** Shows a run: one line for each event, and a status line on a terminal. */
export function showRun(context: CommandContext, options: { json?: boolean; plain?: boolean }) {
  const { output, logLevel } = context;
  const json = options.json === true;
  const progress = createProgress();
  let waited: string | undefined;
  /** A waiting run repeats its decision to wait after every input. */
  const isRepeated = (line: string, { type }: RunEvent): boolean => {
    if (type !== 'decided') return false;
    const same = line === waited;
    waited = line;
    return same;
  };
  return {
    onEvent: (event: RunEvent): void => {
      progress.take(event);
      if (json) return output.json(event);
      if (!isShown(levelOf(event), logLevel())) return;
      const line = renderRunEvent(event);
      if (line !== undefined && !isRepeated(line, event)) output.line(line);
    },
    /** Waits for the end and prints it, without handling signals. */
    wait: async (running: RunningRun): Promise<RunEnd> => {
      const end = await running.done;
      printEnd(context, end, undefined, json);
      return end;
    },
    /** Waits for the end, with Ctrl-C handled, prints it and sets the exit code. */
    follow: async (running: RunningRun): Promise<RunEnd> => {
      const isQuiet = options.plain === true || json;
      const line = isQuiet ? undefined : () => progress.line(Date.now(), running.progress());
      try {
        return await untilEnd(output, running, { name: 'the run', line }, (end, signal) => {
          printEnd(context, end, signal, json);
          return end;
        });
      } catch (error) {
        // A program that reads the lines still gets the usual last line.
        if (json) {
          output.json(printedLine(error));
          const end = brokenEnd(running, error);
          output.json(endEvent(end, end.exitCode));
        }
        throw error;
      }
    },
  };
}

/** Waits for the end of a run, with Ctrl-C handled and, on a terminal, a status line. `atEnd` gets the first signal. */
export async function untilEnd<T>(
  output: Output,
  running: RunningRun,
  { name, line }: { name: string; line: (() => string) | undefined },
  atEnd: (end: RunEnd, signal: NodeJS.Signals | undefined) => T | Promise<T>,
): Promise<T> {
  const interrupts = handleInterrupts(output, { ...running, drain: () => running.drain('Ctrl-C') }, name);
  const tick = (): void => {
    // After an interrupt the countdown uses the line.
    if (line !== undefined && interrupts.signal() === undefined) output.status?.(line());
  };
  const ticking = output.status === undefined ? undefined : setInterval(tick, 1000);
  try {
    const end = await running.done;
    clearInterval(ticking);
    return await atEnd(end, interrupts.signal());
  } finally {
    clearInterval(ticking);
    output.status?.('');
    interrupts.stop();
  }
}

function printEnd(
  { output, exit }: CommandContext,
  end: RunEnd,
  signal: NodeJS.Signals | undefined,
  json: boolean,
): void {
  const code = end.outcome === 'interrupted' ? exitCodeOf(end.outcome, signal) : end.exitCode;
  exit(code);
  if (json) return output.json(endEvent(end, code));
  for (const line of renderEnd(end)) output.line(line);
}

function endEvent({ head, failures, next, questions, ...end }: RunEnd, exitCode: number): RunEvent {
  const { runId, name, outcome, headline, why, branch, report } = end;
  return {
    ...{ type: 'run-ended', at: Date.now(), runId, name, outcome, headline, why, exitCode, branch },
    ...(head === undefined ? {} : { head }),
    report,
    failures: [...failures],
    next: [...next],
    questions: questions.map(({ id, text, options }) => ({ id, text, options: [...options] })),
  };
}

/** The machine failed, not the work: turns continue, and the run can be resumed. */
function brokenEnd({ runId, name }: RunningRun, error: unknown): RunEnd {
  const exitCode = isSquadError(error) ? error.exitCode : 1;
  const why = errorText(error);
  return {
    ...{ runId, name, outcome: 'interrupted', headline: `INTERRUPTED, ${why}`, why, exitCode },
    ...{ branch: `squad/${name}`, head: undefined, report: '', failures: [], next: [], questions: [] },
  };
}

function renderEnd({ name, outcome, headline, branch, head, report, failures, next, questions }: RunEnd): string[] {
  const at = head === undefined ? '' : ` at ${head.slice(0, 12)}`;
  return [
    '',
    plainLine(reasons(headline), 1000),
    `  run       ${name}`,
    ...questions.flatMap(({ id, text, options }) => [
      `  asks      ${plainLine(text, 600)}`,
      `  answer    squad answer ${id} "${options[0] ?? 'your answer'}"${options.length > 1 ? `   (${options.map((one) => `“${plainLine(one, 60)}”`).join(' or ')})` : ''}`,
    ]),
    ...failureLines(failures).map((line) => `  ${line}`),
    `  branch    ${branch}${at}`,
    `  report    ${report}`,
    ...nextSteps(outcome, name, branch, next),
  ];
}

function nextSteps(outcome: RunEnd['outcome'], name: string, branch: string, [next]: RunEnd['next']): string[] {
  switch (outcome) {
    case 'done':
      return [`  take it   git merge ${branch}`];
    case 'failed':
      return [`  see       squad report ${name}`];
    case 'waiting':
      return [`  then      squad resume ${name}`];
    case 'stopped':
    case 'interrupted':
      return [`  continue  ${next ?? `squad resume ${name}`}`];
  }
}
