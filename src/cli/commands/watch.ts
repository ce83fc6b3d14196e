import { usageError } from '../../model/errors.ts';
import { letThroughBy } from '../../model/let-through.ts';
import type { RunEvent } from '../../model/run-event.ts';
import { isDriven } from '../../view/driven.ts';
import { readHistory } from '../../view/read-run.ts';
import type { RunEnd } from '../../view/running-run.ts';
import { openRunEvents } from '../../view/run-events.ts';
import { openRun, type OpenedRun } from '../../squad/open-run.ts';
import { withLedger } from '../../squad/open-workspace.ts';
import { probeLock } from '../../substrate/ledger/workspace-lock.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import { ageOf } from '../../text/time.ts';
import { lastFrame } from '../board/board.ts';
import { EMPTY_BOARD } from '../board/board-state.ts';
import { followRun } from '../../squad/follow-run.ts';
import { followTeamOf } from '../../squad/team/team-of-run.ts';
import { takeEvent } from '../board/view.ts';
import { createProgress, openWatchBoard } from '../board/watch-board.ts';
import { callerAt } from '../call-person.ts';
import { askNoteHere } from '../ask/ask-note.ts';
import { loadAsking } from '../ask/load-asking.ts';
import type { CommandContext, Options } from '../command-context.ts';
import type { OfPool } from '../pool/pool-flags.ts';
import { isTaken } from '../mail/inbox.ts';
import { listenForStop } from '../mail/stop-signal.ts';
import type { Output } from '../output.ts';
import { endEvent, endOfRun } from '../../squad/ended-run.ts';
import { printEndLines } from '../render/end-lines.ts';
import { createLines } from '../render/event-lines.ts';

type WatchOptions = Pick<Options<'watch'>, 'json' | 'plain'>;

const LOOK_MS = 250;
/** Looks between two questions whether the engine runs, each of which opens a file. */
const LOOKS = 4;

/** Shows a run of any process until it ends, and exits with the code of its end. After Ctrl-C or `q` the run continues. */
export async function watch(
  context: CommandContext,
  name: string | undefined,
  options: Options<'watch'> & OfPool,
): Promise<void> {
  if (options.pool !== undefined) return (await import('../pool/watch-pool.ts')).watchInPool(context, name, options);
  if (options.web === true) return (await import('../web/watch-web.ts')).watchOnWeb(context, name, options);
  refuseWithoutWeb(options);
  const opened = await openRun(context, name);
  const stop = listenForStop();
  try {
    await withLedger(opened, 'read', async (ledger) => {
      if (!opened.reading.driven) return showPast(context, opened, ledger, options);
      const left = new AbortController();
      const leave = (): void => left.abort();
      stop.aborted.addEventListener('abort', leave);
      const end = await watchEngine(context, opened, ledger, { options, leave, left: left.signal });
      if (end === undefined) return context.exit(stop.exitCode());
      return showEnd(context, end, ledger, options);
    });
  } finally {
    stop.stop();
  }
}

/** Shows a run until its engine has ended, and returns how that left it. undefined: the person, or the reader of the lines, has left. */
export async function watchEngine(
  context: CommandContext,
  opened: OpenedRun,
  ledger: Ledger,
  about: ViewOptions & { readonly left: AbortSignal },
): Promise<RunEnd | undefined> {
  const view = await viewOf(context, opened, ledger, about);
  try {
    if (!(await follow(opened, ledger, view, about.left))) return undefined;
    const end = await readEnd(opened, ledger);
    await view.end(end);
    return end;
  } finally {
    view.board?.close();
  }
}

function refuseWithoutWeb({ all, port, tunnel }: Options<'watch'>): void {
  const flag = all === true ? '--all' : port !== undefined ? '--port' : tunnel === true ? '--tunnel' : undefined;
  if (flag === undefined) return;
  throw usageError(`${flag} is for the live page`, `Add --web: \`squad watch --web\`.`);
}

/** How people or programs see the run here. */
async function viewOf(context: CommandContext, { reading }: OpenedRun, ledger: Ledger, about: ViewOptions) {
  const { output } = context;
  const json = about.options.json === true;
  const isBoard = output.terminal !== undefined && !json && about.options.plain !== true;
  const asking = isBoard && process.stdin.isTTY ? await loadAsking({ ...context, away }) : undefined;
  const answer = asking === undefined ? undefined : async () => asking.ask();
  let plan: FollowedRun['board'] = () => undefined;
  const asks = { answer: () => answer, askNote: askNoteHere };
  const { leave, interrupting } = about;
  const runId = reading.row.id;
  const team = isBoard ? await followTeamOf(ledger, { run: runId, playbook: reading.definition.playbook }) : undefined;
  const actions = { ledger, runId, team, leave, interrupting, ...asks, plan: () => plan() };
  const board =
    isBoard && output.terminal !== undefined ? openWatchBoard(context, output.terminal, actions) : undefined;
  async function away<T>(work: () => Promise<T>): Promise<T> {
    return board === undefined ? work() : board.away(work);
  }
  const lineOf = createLines(context.logLevel(), undefined);
  const caller = json ? undefined : callerAt(context);
  const since = Date.now();
  return {
    board,
    follows: (followed: FollowedRun): void => void (plan = followed.board),
    take: (event: RunEvent): void => {
      if (event.at >= since) caller?.hear(event);
      // The terminal that drives the run asks at once; here a person presses a key.
      if (event.type === 'run-defined' || event.type === 'question-answered') asking?.hear(event);
      if (json) output.json(event);
      else if (board !== undefined) board.take(event);
      else printLine(output, lineOf(event));
    },
    end: async (end: RunEnd): Promise<void> => {
      await asking?.close();
      board?.close();
      caller?.ended(end);
    },
  };
}

type FollowedRun = Pick<ReturnType<typeof followRun>, 'board'>;

interface ViewOptions extends Pick<Parameters<typeof openWatchBoard>[2], 'interrupting'> {
  readonly options: WatchOptions;
  readonly leave: () => void;
}

function printLine(output: Output, line: string | undefined): void {
  if (line !== undefined) output.line(line);
}

/** On a terminal with the last frame, which no line has shown before. */
export async function showEnd(
  { output, exit }: CommandContext,
  end: RunEnd,
  ledger: Ledger,
  options: WatchOptions,
): Promise<void> {
  exit(end.exitCode);
  if (options.json === true) return output.json(endEvent(end));
  if (output.terminal !== undefined && options.plain !== true) {
    const seen = openRunEvents(ledger, end.runId);
    const events = seen.look();
    const state = [...events, endEvent(end)].reduce(takeEvent, EMPTY_BOARD);
    const progress = createProgress(ledger, end.runId, () => seen.board())();
    const playbook = playbookIn(events);
    const team = (await followTeamOf(ledger, { run: end.runId, playbook }))?.();
    for (const line of lastFrame({ state, progress, team }, output.terminal)) output.line(line);
  }
  printEndLines(end, output);
}

function playbookIn(events: readonly RunEvent[]): string {
  const defined = events.find((event) => event.type === 'run-defined');
  return defined?.type === 'run-defined' ? defined.playbook : '';
}

/** Follows the run until its engine has ended (true), or the person or the reader of the lines has left (false). */
async function follow(
  { reading, composition, directory }: OpenedRun,
  ledger: Ledger,
  { board, take, follows }: Awaited<ReturnType<typeof viewOf>>,
  left: AbortSignal,
): Promise<boolean> {
  const { row, segments, definition } = reading;
  const redactor = composition.redactor(letThroughBy(definition));
  // A board shows the whole run; lines begin with the engine of now, as they do where it runs.
  const epoch = board === undefined ? segments.at(-1)?.epoch : undefined;
  const followed = followRun({ ledger, composition, redactor, directory }, row.id, epoch, take);
  follows(followed);
  try {
    for (let looks = 1; !left.aborted; looks += 1) {
      await followed.look();
      if (board === undefined && !(await isTaken(process.stdout))) return false;
      if (looks % LOOKS === 0 && !isDriven(ledger.segments(row.id), probeLock(directory))) {
        await followed.look();
        return true;
      }
      await composition.clock.sleep(LOOK_MS, left);
    }
    return false;
  } finally {
    await followed.close();
  }
}

/** A run without an engine: how it ended, and when. */
async function showPast(
  context: CommandContext,
  opened: OpenedRun,
  ledger: Ledger,
  options: WatchOptions,
): Promise<void> {
  const { output } = context;
  const { row, segments } = opened.reading;
  const end = await readEnd(opened, ledger);
  if (options.json !== true) {
    const since = segments.at(-1)?.releasedAt ?? ledger.events({ stream: row.id }).at(-1)?.at ?? row.createdAt;
    output.line(`No engine runs ${row.name}. It ended ${ageOf(opened.now - since)} ago.`);
  }
  await showEnd(context, end, ledger, options);
}

async function readEnd(opened: OpenedRun, ledger: Ledger): Promise<RunEnd> {
  const { directory, reading } = opened;
  return endOfRun(opened, readHistory(ledger, reading.row.id, probeLock(directory)));
}
