import type { RunEnd, RunningRun } from '../../engine.ts';
import { exitCodeOf } from '../../model/run-state.ts';
import { errorText, isSquadError } from '../../model/errors.ts';
import type { RunEvent } from '../../model/run-event.ts';
import type { CommandContext } from '../command-context.ts';
import { printedLine } from '../error-line.ts';
import { handleInterrupts, type Interrupts } from '../interrupts.ts';
import type { Output } from '../output.ts';
import { isShown, levelOf } from '../render/event-level.ts';
import { failureLines } from '../render/failure-lines.ts';
import { plainLine } from '../../text/plain-text.ts';
import { reasons, renderRunEvent } from '../render/run-lines.ts';
import { createProgress } from '../render/run-progress.ts';

export interface RunShow {
  /** For the engine, from its first event on. */
  onEvent(event: RunEvent): void;
  /** Waits for the end, with Ctrl-C handled, prints it and sets the exit code. */
  follow(running: RunningRun): Promise<RunEnd>;
  /** Waits for the end and prints it, without handling signals. */
  wait(running: RunningRun): Promise<RunEnd>;
}

/** Shows a run: one line for each event, and a status line on a terminal. */
export function showRun(context: CommandContext, options: { json?: boolean; plain?: boolean }): RunShow {
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
    onEvent: (event) => {
      progress.take(event);
      if (json) return output.json(event);
      if (!isShown(levelOf(event), logLevel())) return;
      const line = renderRunEvent(event);
      if (line !== undefined && !isRepeated(line, event)) output.line(line);
    },
    wait: async (running) => {
      const end = await running.done;
      printEnd(context, end, undefined, json);
      return end;
    },
    follow: async (running) => {
      const work = { ...running, drain: () => running.drain('Ctrl-C') };
      const interrupts = handleInterrupts(output, work, 'the run');
      const ticking =
        options.plain === true || json
          ? undefined
          : showStatus(output, (now) => progress.line(now, running.progress()), interrupts);
      try {
        const end = await running.done;
        clearInterval(ticking);
        printEnd(context, end, interrupts.signal(), json);
        return end;
      } catch (error) {
        // A program that reads the lines still gets the usual last line.
        if (json) {
          output.json(printedLine(error));
          output.json(brokenEnd(running, error));
        }
        throw error;
      } finally {
        clearInterval(ticking);
        output.status?.('');
        interrupts.stop();
      }
    },
  };
}

/** After an interrupt the countdown uses the line. */
function showStatus(output: Output, line: (now: number) => string, interrupts: Interrupts): NodeJS.Timeout | undefined {
  if (output.status === undefined) return undefined;
  return setInterval(() => {
    if (interrupts.signal() === undefined) output.status?.(line(Date.now()));
  }, 1000);
}

function printEnd(
  { output, exit }: CommandContext,
  end: RunEnd,
  signal: NodeJS.Signals | undefined,
  json: boolean,
): void {
  const code = end.outcome === 'interrupted' ? exitCodeOf(end.outcome, signal) : end.exitCode;
  exit(code);
  const { runId, name, outcome, headline, why, branch, head, report } = end;
  if (json) {
    const questions = end.questions.map(({ id, text, options }) => ({ id, text, options: [...options] }));
    const event: RunEvent = {
      type: 'run-ended',
      at: Date.now(),
      runId,
      name,
      outcome,
      headline,
      why,
      exitCode: code,
      branch,
      ...(head === undefined ? {} : { head }),
      report,
      failures: [...end.failures],
      next: [...end.next],
      questions,
    };
    return output.json(event);
  }
  for (const line of renderEnd(end)) output.line(line);
}

/** The machine failed, not the work: turns continue, and the run can be resumed. */
function brokenEnd({ runId, name }: RunningRun, error: unknown): RunEvent {
  const exitCode = isSquadError(error) ? error.exitCode : 1;
  const about = { type: 'run-ended', at: Date.now(), runId, name, outcome: 'interrupted' } as const;
  const why = errorText(error);
  return {
    ...about,
    headline: `INTERRUPTED, ${why}`,
    why,
    exitCode,
    branch: `squad/${name}`,
    report: '',
    failures: [],
    next: [],
    questions: [],
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
