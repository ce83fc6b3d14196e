import { compose } from '../../engine/compose.ts';
import { openMachine } from '../../engine/machine.ts';
import { usageError } from '../../model/errors.ts';
import type { RunEvent } from '../../model/run-event.ts';
import { noRunYet, noSuch } from '../../model/unknown-name.ts';
import { letThroughBy } from '../../model/let-through.ts';
import { drivenRun } from '../../view/driven.ts';
import { findRun, isOver, type RunReading } from '../../view/read-run.ts';
import { openRunEvents } from '../../view/run-events.ts';
import { findView } from '../../view/run-summary.ts';
import { openWorkspace, requireNamed, withLedger } from '../../squad/open-workspace.ts';
import { probeLock } from '../../substrate/ledger/workspace-lock.ts';
import type { Clock } from '../../substrate/ports/clock.ts';
import type { Ledger, RunRow } from '../../substrate/ports/ledger.ts';
import { plainLine } from '../../text/plain-text.ts';
import { followRun } from '../../squad/follow-run.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { listenForStop } from '../mail/stop-signal.ts';
import { createLogLines, isAbout } from '../render/log-lines.ts';
import { renderLedgerEvent } from '../render/log-line.ts';

const LOOK_MS = 250;

/** Prints the events of a run for people, or with `--raw` or `--json` the rows of the ledger. */
export async function log(context: CommandContext, name: string | undefined, options: Options<'log'>): Promise<void> {
  const isRows = options.raw === true || options.json === true;
  refuseMixed(options, isRows);
  const { host } = context;
  const workspace = await openWorkspace({ host, composition: openMachine(host) });
  const { directory, composition } = workspace;
  const lockedBy = probeLock(directory);
  const stop = options.follow === true ? listenForStop() : undefined;
  const ended = stop === undefined ? undefined : endOf(stop.aborted, composition.clock);
  try {
    await withLedger(workspace, 'read', async (ledger) => {
      const named = name === undefined ? undefined : requireNamed(workspace, ledger, name);
      if (isRows) return printRows(context, ledger, named, options, ended);
      const row = named ?? ledger.run(drivenRun(ledger, lockedBy) ?? '') ?? ledger.runs().at(-1);
      if (row === undefined) throw noRunYet();
      const reading = findRun(ledger, row.id, lockedBy);
      return printLines(context, { ledger, directory, row, reading }, options, ended);
    });
  } finally {
    const code = stop?.exitCode() ?? 0;
    if (code !== 0) context.exit(code);
    stop?.stop();
  }
}

/** The end of a log that is followed. */
interface Ended {
  isNow(): boolean;
  /** Waits before the next look. */
  pause(): Promise<void>;
}

/** A person has enough, or the reader of a pipe has. */
function endOf(aborted: AbortSignal, clock: Clock): Ended {
  const closed = new AbortController();
  process.stdout.once('error', () => closed.abort());
  const any = AbortSignal.any([aborted, closed.signal]);
  return { isNow: () => any.aborted, pause: () => clock.sleep(LOOK_MS, any) };
}

function refuseMixed({ after, task, agent }: Options<'log'>, isRows: boolean): void {
  if (isRows && (task !== undefined || agent !== undefined)) {
    throw usageError('--task and --agent do not go with --raw or --json', 'Leave one of them out.');
  }
  if (!isRows && after !== undefined) {
    throw usageError('--after counts rows of the ledger', 'Give it with --raw or --json.');
  }
}

/** The rows of one run, or of all; with `ended`, those to come too. */
async function printRows(
  { output }: CommandContext,
  ledger: Ledger,
  run: RunRow | undefined,
  { json, after = 0, limit }: Options<'log'>,
  ended: Ended | undefined,
): Promise<void> {
  const stream = run === undefined ? {} : { stream: run.id };
  let names = new Map<string, string>();
  let [cursor, left] = [after, limit ?? Infinity];
  do {
    const events = ledger.events({ ...stream, after: cursor, ...(left === Infinity ? {} : { limit: left }) });
    if (events.length > 0) names = new Map(ledger.runs().map((row) => [row.id, row.name]));
    for (const event of events) {
      if (json === true) output.json(event);
      else output.line(renderLedgerEvent(event, names.get(event.stream) ?? event.stream));
      cursor = event.seq;
    }
    left -= events.length;
    if (ended !== undefined && left > 0) await ended.pause();
  } while (ended?.isNow() === false && left > 0);
}

interface Logged {
  readonly ledger: Ledger;
  /** The folder with the ledger. */
  readonly directory: string;
  readonly row: RunRow;
  /** undefined: it was never defined. */
  readonly reading: RunReading | undefined;
}

async function printLines(
  context: CommandContext,
  logged: Logged,
  options: Options<'log'>,
  ended: Ended | undefined,
): Promise<void> {
  const { output, logLevel } = context;
  const { ledger, row, reading } = logged;
  if (reading !== undefined) refuseUnknown(reading, options);
  const linesOf = createLogLines(logLevel(), output.style);
  const wanted = (event: RunEvent): string[] => (isAbout(event, options) ? linesOf(event) : []);
  const title = reading === undefined ? '' : `  ${plainLine(reading.definition.objective.title, 100)}`;
  output.line(output.style('bold', `${row.name}${title}`));
  if (ended === undefined) {
    const lines = openRunEvents(ledger, row.id).look().flatMap(wanted);
    for (const line of lines.slice(-(options.limit ?? lines.length))) output.line(line);
  } else {
    await follow(context, logged, ended, (event) => {
      for (const line of wanted(event)) output.line(line);
    });
  }
  const headline = findView(ledger, row, null, Date.now())?.end?.headline;
  if (headline !== undefined) output.line(plainLine(headline, 400));
}

function refuseUnknown({ row, board, definition }: RunReading, { task, agent }: Options<'log'>): void {
  const next = `See \`squad status ${row.name}\`.`;
  if (task !== undefined && !board.tasks.has(task)) {
    throw usageError(noSuch('task', plainLine(task, 80), [...board.tasks.keys()]), next);
  }
  const agents = definition.agents.map(({ name }) => name);
  if (agent !== undefined && !agents.includes(agent)) {
    throw usageError(noSuch('agent', plainLine(agent, 80), agents), next);
  }
}

/** Until the run is over, or a person has enough. */
async function follow(
  { host }: CommandContext,
  { ledger, directory, row, reading }: Logged,
  ended: Ended,
  take: (event: RunEvent) => void,
): Promise<void> {
  const composition = compose(host);
  const redactor = composition.redactor(reading === undefined ? [] : letThroughBy(reading.definition));
  const followed = followRun({ ledger, composition, redactor, directory }, row.id, undefined, take);
  try {
    for (let version: number | undefined; !ended.isNow();) {
      const now = ledger.dataVersion();
      const isNew = now !== version;
      version = now;
      const released = ledger.segments(row.id).at(-1)?.releasedAt;
      const read = isNew && released !== null ? findRun(ledger, row.id, null) : undefined;
      await followed.look();
      if (read !== undefined && isOver(read)) return;
      await ended.pause();
    }
  } finally {
    await followed.close();
  }
}
