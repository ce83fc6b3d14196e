import type { RunningRun } from '../../view/running-run.ts';
import { errorText, isSquadError } from '../../model/errors.ts';
import { RUN_EVENTS } from '../../model/run.ts';
import { listUnfinished, runsToSweep, type StillRuns, type Unfinished } from '../../view/unfinished.ts';
import { otherDriver } from '../../substrate/ledger/workspace-lock.ts';
import { priorityRank } from '../../model/priority.ts';
import { LIMITS_RECORD, readLimits } from '../../model/shared-limits.ts';
import { plainLine } from '../../text/plain-text.ts';
import { squadOn } from '../../squad/squad.ts';
import { isAgreed } from '../../squad/run-consent.ts';
import { openWorkspace, withLedger, type OpenedWorkspace } from '../../squad/open-workspace.ts';
import type { CommandContext, DriveOptions } from '../command-context.ts';
import { errorLine } from '../error-line.ts';
import type { Output } from '../output.ts';
import { showRun } from './show-run.ts';

/** Ends a run. After a signal it also applies to runs that are just starting. */
export type End = (run: RunningRun) => unknown;

export interface Ended {
  readonly runId: string;
  readonly name: string;
  /** null: it was not started, because no person has agreed to it. */
  readonly exitCode: number | null;
}

/** How runs are hosted. */
export interface Hosting {
  readonly options: Pick<DriveOptions, 'json'>;
  /** Other runs that this process drives. */
  readonly besides: number;
  /** Whether it is hosted at all. */
  readonly counts: (run: Unfinished) => boolean;
}

/** Runs at the same time, where `serve.limits.parallelRuns` says nothing. */
const PLACES = 2;
/** A run that cannot be resumed is tried less and less often. */
const AGAIN_MS = 60_000;

/** Memory of a host about runs. */
interface Known {
  /** Runs that start, or are driven here. */
  readonly taken: ReadonlyMap<string, unknown>;
  /** By run: how its stream ended when it was left last. If nothing has happened to it since, it would end like that again. */
  readonly left: Map<string, number>;
  readonly broken: Map<string, { times: number; until: number }>;
  readonly still: StillRuns;
}

/** Runs without an engine that can move and find a place. None while another process has the workspace. */
async function findRuns(
  workspace: OpenedWorkspace,
  { taken, left, broken, still }: Known,
  { counts, besides }: Pick<Hosting, 'counts' | 'besides'>,
): Promise<Unfinished[]> {
  const { directory, composition } = workspace;
  const { clock } = composition;
  if (taken.size === 0 && otherDriver(directory) !== undefined) return [];
  return withLedger(workspace, 'read', (ledger) => {
    const { kind, id } = LIMITS_RECORD;
    const most = readLimits(ledger.record(kind, id)?.value)?.limits.parallelRuns ?? PLACES;
    const places = most - besides - taken.size;
    if (places <= 0) return [];
    const found = runsToSweep(ledger, listUnfinished(ledger, null, clock.now(), { without: taken, still })).filter(
      (run) =>
        counts(run) &&
        // A time that has come is no event of its run.
        (run.need === 'due' || left.get(run.runId) !== ledger.lastSeq(run.runId)) &&
        (broken.get(run.runId)?.until ?? 0) <= clock.monotonic(),
    );
    return found.slice(0, places);
  });
}

/** Drives several runs of one repository in this process, each until it ends or waits for a usage limit. */
export function createHost(context: CommandContext, { options, ...hosting }: Hosting) {
  const hosted = new Map<string, RunningRun>();
  const taken = new Map<string, Promise<void>>();
  const known: Known = { taken, left: new Map(), broken: new Map(), still: new Map() };
  /** Runs that were left, in their order. */
  const ended: Ended[] = [];
  let requested: End | undefined;

  const start = async (workspace: OpenedWorkspace, run: Unfinished, onBegun: () => void): Promise<void> => {
    const { clock } = workspace.composition;
    const exitCode = await hostRun(context, run, { options, hosted, requested: () => requested, onBegun });
    if (exitCode !== undefined) ended.push({ runId: run.runId, name: run.name, exitCode });
    const times = (known.broken.get(run.runId)?.times ?? 0) + 1;
    if (exitCode === null || (exitCode !== undefined && exitCode >= 65))
      known.broken.set(run.runId, { times, until: clock.monotonic() + AGAIN_MS * 2 ** times });
    else known.left.set(run.runId, await withLedger(workspace, 'read', (ledger) => ledger.lastSeq(run.runId)));
    taken.delete(run.runId);
  };

  return {
    /** Starts what can move and finds a place. False: there was nothing. Calls must not overlap. */
    look: async (): Promise<boolean> => {
      if (requested !== undefined) return false;
      const workspace = await openWorkspace(context);
      const found = await findRuns(workspace, known, hosting);
      for (const run of found) {
        const begun = Promise.withResolvers<void>();
        taken.set(run.runId, start(workspace, run, begun.resolve).finally(begun.resolve));
        // The next run has a lower priority or is younger, so its turns do not start first.
        await begun.promise;
      }
      return found.length > 0;
    },
    /** The runs that start, or are driven here. */
    names: (): string[] => [...hosted.values()].map(({ name }) => name),
    isIdle: (): boolean => taken.size === 0,
    /** Resolves once one of the runs has ended. */
    oneEnded: async (): Promise<void> => Promise.race(taken.values()),
    allEnded: async (): Promise<void> => void (await Promise.all(taken.values())),
    /** Ends those of these runs that are driven here. */
    cancel: async (runIds: readonly string[]): Promise<void> => {
      for (const runId of runIds) {
        await hosted.get(runId)?.cancel('its engine ends');
        await taken.get(runId);
      }
    },
    end: async (act: End): Promise<void> => {
      requested = act;
      await Promise.all([...hosted.values()].map(act));
    },
    ended,
  };
}

/** The exit code; null: no person has agreed to it; undefined: a signal came before the run started. */
async function hostRun(
  context: CommandContext,
  { runId, name, why, priority, need }: Unfinished,
  {
    options,
    hosted,
    requested,
    onBegun,
  }: {
    options: Hosting['options'];
    hosted: Map<string, RunningRun>;
    requested: () => End | undefined;
    onBegun: () => void;
  },
): Promise<number | null | undefined> {
  const { output } = context;
  if (requested() !== undefined) return undefined;
  const workspace = await openWorkspace(context);
  if (!(await isAgreed(workspace, runId))) {
    output.problem(
      `${name} is skipped: no person has agreed to it on this machine. See it with \`squad resume ${name}\`.`,
    );
    if (need === 'queued') await noteRefused(workspace, runId, 'no person has agreed to it on this machine');
    return null;
  }
  output.problem(
    `${name}: ${need === 'queued' ? 'it is next in the queue, and starts' : why}${priorityText(priority)}`,
  );
  const named: Output = options.json === true ? output : { ...output, line: (text) => output.line(prefix(name, text)) };
  const show = await showRun({ ...context, output: named, exit: () => undefined }, { ...options, plain: true });
  try {
    const running = await squadOn(context.host).resume(runId, { patienceMs: 0, onEvent: show.onEvent });
    hosted.set(runId, running);
    onBegun();
    const [end] = await Promise.all([show.wait(running), requested()?.(running)]);
    return end.exitCode;
  } catch (error) {
    if (need === 'queued' && isSquadError(error) && error.code !== 'workspace-busy')
      await noteRefused(workspace, runId, error.message);
    if (options.json === true) output.json({ ...errorLine(error), run: name });
    output.problem(`${name}: ${errorText(error)}`);
    return isSquadError(error) ? error.exitCode : 1;
  } finally {
    hosted.delete(runId);
  }
}

/** So that no engine tries it again before a person does. */
async function noteRefused(workspace: OpenedWorkspace, runId: string, why: string): Promise<void> {
  await withLedger(workspace, 'write', (ledger) => ledger.append(runId, RUN_EVENTS.startRefused, { why }));
}

function priorityText(priority: string | undefined): string {
  if (priority === undefined) return '';
  const text = plainLine(priority, 40);
  return priorityRank(priority) === undefined ? ` (priority “${text}”, which counts as medium)` : ` (priority ${text})`;
}

function prefix(name: string, text: string): string {
  return text.replaceAll(/^(?=.)/gm, `${name}  `);
}
