import type { RunEnd, RunningRun } from '../../view/running-run.ts';
import { exitCodeOf } from '../../model/run-state.ts';
import { errorText, isSquadError } from '../../model/errors.ts';
import type { RunEvent } from '../../model/run-event.ts';
import type { CommandContext } from '../command-context.ts';
import { printedLine } from '../error-line.ts';
import { handleInterrupts } from '../interrupts.ts';
import type { Output } from '../output.ts';
import { createLines } from '../render/event-lines.ts';
import { callerAt } from '../call-person.ts';
import { endEvent } from '../../squad/ended-run.ts';
import { tidyLater } from '../tidying.ts';
import { printEndLines } from '../render/end-lines.ts';

/** Shows a run: on a terminal as a board, elsewhere as one line for each event. */
export async function showRun(context: CommandContext, options: { json?: boolean; plain?: boolean }) {
  const { output } = context;
  const json = options.json === true;
  const board = json || options.plain === true ? undefined : await boardOn(context);
  const lineOf = createLines(context.logLevel(), board);
  const caller = json ? undefined : callerAt(context);
  const lines = createHeld<RunEvent>((event) => {
    const line = lineOf(event);
    if (line !== undefined) say(line);
  });
  const say = (line: string): void => (board === undefined ? output.line(line) : board.line(line));
  return {
    onEvent: (event: RunEvent): void => {
      caller?.hear(event);
      if (json) return output.json(event);
      board?.take(event);
      lines.give(event);
    },
    /** Gives the terminal to `work`. What happens meanwhile is printed afterwards. */
    away: async <T>(work: () => Promise<T>): Promise<T> =>
      lines.during(async () => (board === undefined ? work() : board.away(work))),
    /** Asks the open questions when a person presses a key for that. */
    answerBy: (ask: () => Promise<void>): void => board?.answerBy(ask),
    /** Says something that is no event of the run. */
    note: (text: string): void => (json ? output.problem(`note: ${text}`) : say(`note      ${text}`)),
    /** Waits for the end and prints it, without handling signals. */
    wait: async (running: RunningRun): Promise<RunEnd> => {
      noteEngine(context, running, json);
      const end = await running.done;
      printEnd(context, end, undefined, json);
      await tidyLater(context, running.runId);
      return end;
    },
    /** Waits for the end, with Ctrl-C handled, prints it and sets the exit code. `atEnd`: what has to end before. */
    follow: async (running: RunningRun, atEnd?: () => Promise<void>): Promise<RunEnd> => {
      board?.follow(running);
      noteEngine(context, running, json, board);
      if (!json && isAtTerminal(output)) say(CLOSING);
      try {
        const followed = { ...running, done: after(running.done, atEnd) };
        const ended = await untilEnd(output, followed, { name: 'the run', countDown: board?.notice }, (end, signal) => {
          board?.close();
          if (signal === undefined) caller?.ended(end);
          printEnd(context, end, signal, json);
          return end;
        });
        await tidyLater(context, running.runId);
        return ended;
      } catch (error) {
        // A program that reads the lines still gets the usual last line.
        for (const line of json ? [printedLine(error), endEvent(brokenEnd(running, error))] : []) output.json(line);
        throw error;
      } finally {
        board?.close();
      }
    },
  };
}

/** Until the run has ended, squad knows of it if it breaks: a terminal is as it was, and a program gets the usual last line. */
function noteEngine(
  { engines, output }: CommandContext,
  running: RunningRun,
  json: boolean,
  board?: { close(): void },
): void {
  engines?.set(running, (error) => {
    board?.close();
    if (json) output.json(endEvent(brokenEnd(running, error)));
  });
  const forget = (): void => void engines?.delete(running);
  running.done.then(forget, forget);
}

/** Someone who closes the terminal of a long run may not expect that. */
const CLOSING =
  'note      closing this terminal stops the run; `squad resume --detach` continues it in the background, as `squad run --detach` begins it';

function isAtTerminal({ terminal }: CommandContext['output']): boolean {
  return terminal !== undefined && process.stdin.isTTY;
}

/** Waits for `then` as well, also if the end rejects. */
async function after<T>(end: Promise<T>, then: (() => Promise<void>) | undefined): Promise<T> {
  try {
    return await end;
  } finally {
    await then?.();
  }
}

/** Passes on what it is given, but what comes during some work only afterwards. */
function createHeld<T>(pass: (one: T) => void) {
  let held: T[] | undefined;
  return {
    give: (one: T): void => (held === undefined ? pass(one) : void held.push(one)),
    during: async <R>(work: () => Promise<R>): Promise<R> => {
      held = [];
      try {
        return await work();
      } finally {
        const late = held;
        held = undefined;
        late.forEach(pass);
      }
    },
  };
}

/** undefined: there is no terminal to draw on. Only where there is one, its code is loaded. */
async function boardOn(context: CommandContext) {
  const { terminal } = context.output;
  if (terminal === undefined) return undefined;
  const [{ createDriveBoard }, { askNoteHere }] = await Promise.all([
    import('../board/drive-board.ts'),
    import('../ask/ask-note.ts'),
  ]);
  return createDriveBoard(context, terminal, askNoteHere);
}

/** Waits for the end of a run, with Ctrl-C handled. `atEnd` gets the first signal. */
export async function untilEnd<T>(
  output: Output,
  running: RunningRun,
  about: { name: string; countDown?: ((text: string) => void) | undefined },
  atEnd: (end: RunEnd, signal: NodeJS.Signals | undefined) => T | Promise<T>,
): Promise<T> {
  const interrupts = handleInterrupts(output, { ...running, drain: () => running.drain('Ctrl-C') }, about);
  try {
    return await atEnd(await running.done, interrupts.signal());
  } finally {
    interrupts.stop();
  }
}

export function printEnd(
  { output, exit }: CommandContext,
  end: RunEnd,
  signal: NodeJS.Signals | undefined,
  json: boolean,
): void {
  const code = end.outcome === 'interrupted' ? exitCodeOf(end.outcome, signal) : end.exitCode;
  exit(code);
  if (json) return output.json(endEvent(end, code));
  printEndLines(end, output);
}

/** The machine failed, not the work: turns continue, and the run can be resumed. */
function brokenEnd({ runId, name }: RunningRun, error: unknown): RunEnd {
  const exitCode = isSquadError(error) ? error.exitCode : 1;
  const why = errorText(error);
  return {
    ...{ runId, name, outcome: 'interrupted', headline: `INTERRUPTED, ${why}`, why, exitCode },
    ...{ branch: `squad/${name}`, head: undefined, report: '', failures: [], rejections: [], next: [], questions: [] },
  };
}
