import type { Admission, EnginePorts, RunToAdmit } from '../engine/engine.ts';
import type { RunningRun } from '../view/running-run.ts';
import { checkLimits, type SomeLimits } from '../model/limits.ts';
import { usageError } from '../model/errors.ts';
import type { RunEvent } from '../model/run-event.ts';
import type { Named } from './sources/source-of.ts';
import { withFailedAttempts } from '../view/explain-failure.ts';
import { findRun, isOver, runIsOver } from '../view/read-run.ts';
import { listUnfinished, mostUrgent } from '../view/unfinished.ts';
import { inspectForWork } from '../substrate/git/inspect-repository.ts';
import { requireWhole } from '../substrate/ledger/require-whole.ts';
import { refuseBusy } from '../substrate/ledger/workspace-lock.ts';
import { defined } from '../text/defined.ts';
import { plainLine } from '../text/plain-text.ts';
import { endedRun } from './ended-run.ts';
import type { TraceOption } from '../engine/tracing/target.ts';
import { loadEngine } from './load-engine.ts';
import { checkNewRun, type NewRunOptions, type TrustOption } from './new-run.ts';
import { agreeToRun, recordRun, requireConsent } from './run-consent.ts';
import { refuseRunUnset } from './preflight/variables.ts';
import { warningTexts } from './preflight/warning-texts.ts';
import { admitRun, refuseInUse, sourceIn } from './folder-runs.ts';
import type { Source } from './preflight/source.ts';
import { readServe } from './serve-settings.ts';
import { openRun } from './open-run.ts';
import { bindWorkspace, openWorkspace, lookIn, runIdOf, type OpenedWorkspace, type Place } from './open-workspace.ts';

/** How this process drives a run. */
export interface DriveOptions {
  /** Gets everything that happens in the run, in order. Must not throw. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
  /**
   * The longest wait (ms) for the reset of a usage limit. If it takes longer, the run ends as `waiting` or `stopped`, and
   * `resume` continues it. Absent: it waits.
   */
  readonly patienceMs?: number | undefined;
  /**
   * A person answers questions with `answer` until this is aborted: the run waits for the answers. Absent: once nothing else can
   * move, it ends as `waiting`, and `resume` continues it.
   */
  readonly attended?: AbortSignal | undefined;
  /** Sends traces from this process, whatever `squad.yaml` says; `true`: where it or the environment says. Absent: as it says. */
  readonly trace?: TraceOption | undefined;
  /** Traces also show the nodes of the engine. */
  readonly traceDetail?: boolean | undefined;
}

/** Options of a new run, and of how this process drives it. */
export interface RunOptions extends NewRunOptions, DriveOptions {
  /**
   * Your own id of the run, such as the id of a job, unique in this repository. A second `run` with it continues the first with
   * the objective and options of then; if that is over, it gives its end again.
   */
  readonly id?: string | undefined;
  /**
   * The run's own id, a UUID that no run of this machine has, such as a thread's. In place of `id`, and the same for a second
   * `run` with it.
   */
  readonly runId?: string | undefined;
}

/** As a worker of a pool continues one. */
interface HostedResume extends ResumeOptions {
  /** Before anything of the run leaves this machine. Resolves once its records are kept elsewhere too. */
  readonly beforeDelivery?: () => Promise<void>;
}

/** How to continue a run. `trust`: who agrees to a run that no person has agreed to on this machine. */
export interface ResumeOptions extends DriveOptions, TrustOption {
  /** Limits from now on. */
  readonly limits?: SomeLimits | undefined;
}

/** Starts a run, or continues the one that the caller gave this id before. */
export async function run(place: Place, objective: Named, options: RunOptions): Promise<RunningRun> {
  const { id, runId: ownId, onEvent, patienceMs, attended, trace, traceDetail, ...request } = options;
  const drive = { onEvent, patienceMs, attended, trace, traceDetail };
  const opened = await openWorkspace(place);
  // The run's own id follows from the repository's.
  const workspace = id === undefined ? opened : bindWorkspace(opened);
  const runId = chosenId(workspace.directory, id, ownId);
  const begun = runId === undefined ? undefined : lookIn(workspace, (ledger) => ledger.run(runId));
  if (begun !== undefined) {
    const reading = lookIn(workspace, (ledger) => {
      const found = findRun(ledger, begun.id, null);
      return found && withFailedAttempts(ledger, found);
    });
    if (reading !== undefined)
      return isOver(reading)
        ? endedRun(workspace, reading)
        : resume(workspace, begun.id, { ...drive, trust: request.trust });
  }
  // Its start was cut short before it was defined: the next one takes its place.
  const name = begun?.name ?? request.name;
  const source = sourceIn(workspace, objective);
  return startNew(workspace, source, { ...drive, ...defined({ ...request, name }) }, { runId, own: begun?.name });
}

/** Starts a run that was never begun. `own`: a name that is its already. */
export async function startNew(
  workspace: OpenedWorkspace,
  source: Source,
  options: NewRunOptions & DriveOptions,
  { runId, own }: { readonly runId?: string | undefined; readonly own?: string | undefined } = {},
): Promise<RunningRun> {
  const { onEvent, patienceMs, attended, trace, traceDetail, ...request } = options;
  // Before anything else is loaded or checked, which takes several times as long.
  refuseInUse(workspace, source);
  const checking = checkNewRun(workspace, source, { ...request, attended: attended !== undefined }, own);
  // The checks mostly wait for git, so the graph is loaded meanwhile.
  const [checked, { startRun }] = await Promise.all([checking, loadEngine()]);
  const { definition, repository, contents, serve } = checked;
  const drive = { onEvent, patienceMs, attended, trace, traceDetail };
  const admit = async (begins: RunToAdmit): Promise<Admission> => {
    const admitted = admitRun(workspace, begins);
    await source.refuseChanged?.(definition);
    await recordRun(workspace, begins);
    return admitted;
  };
  const ports = enginePorts(workspace, { ...drive, serve }, admit);
  const running = await startRun(ports, definition, repository, { runId, contents });
  if (onEvent === undefined) return running;
  for (const text of await warningTexts(workspace.host.stateDirectory, checked.warnings))
    onEvent({ type: 'warning', at: Date.now(), runId: running.runId, text });
  return running;
}

/**
 * Continues a run that waited, stopped, was interrupted or lost its engine; by default the one that needs it most. Throws
 * `usage` if it is over.
 */
export async function resume(place: Place, name: string | undefined, options: HostedResume): Promise<RunningRun> {
  const loading = loadEngine();
  const workspace = await openWorkspace(place);
  const { limits, trust, ...drive } = options;
  const raise = checkLimits(limits ?? {});
  const runId = name === undefined ? urgentIn(workspace, raise) : (await openRun(workspace, name)).reading.row.id;
  // Before anyone is asked anything.
  if (runId !== undefined) requireWhole(workspace.directory, [runId], { rows: false });
  // Before this process has the workspace: a person may take long to answer.
  const agreed = runId === undefined ? undefined : await agreeToRun(workspace, runId, trust);
  const admit = async (run: RunToAdmit): Promise<Admission> => {
    const admitted = admitRun(workspace, run);
    if (admitted === 'plays') refuseRunUnset(run.definition, workspace.host.environment);
    await requireConsent(workspace, run, { agreed, raise });
    return admitted;
  };
  const { serve, problem } = await readServe(workspace);
  const { resumeRun } = await loading;
  const ports = enginePorts(workspace, { ...drive, serve }, admit);
  const running = await resumeRun(ports, workspace.repository.root, runId, raise);
  if (problem !== undefined) drive.onEvent?.({ type: 'warning', at: Date.now(), runId: running.runId, text: problem });
  return running;
}

/** Throws what `resume` would be refused with, before something is stored that only a resume makes sense of. */
export async function refuseResume(place: Place, name: string, trust: TrustOption['trust']): Promise<void> {
  const run = await openRun(place, name);
  const { row, definition, driven } = run.reading;
  if (isOver(run.reading)) throw runIsOver(row.name);
  if (driven) return;
  refuseBusy(run.directory);
  await inspectForWork(run.composition.git, run.repository.root);
  await agreeToRun(run, row.id, trust);
  if (admitRun(run, { id: row.id, definition }) === 'plays') refuseRunUnset(definition, run.host.environment);
}

/** The run that needs an engine most; undefined: there is none. */
function urgentIn(workspace: OpenedWorkspace, raise: SomeLimits): string | undefined {
  const now = workspace.composition.clock.now();
  const all = lookIn(workspace, (ledger) => listUnfinished(ledger, null, now)) ?? [];
  return mostUrgent(all, Object.keys(raise).length > 0)?.runId;
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

function chosenId(directory: string, id: string | undefined, runId: string | undefined): string | undefined {
  if (runId === undefined) return id === undefined ? undefined : runIdOf(directory, id);
  if (id !== undefined) throw usageError('`id` and `runId` cannot be given together', 'Give the run one of them.');
  const own = runId.toLowerCase();
  if (UUID.test(own)) return own;
  throw usageError(`${plainLine(runId, 80)} is no id of a run`, 'Give `runId` a UUID, or name the run by `id`.');
}

function enginePorts(
  { host, composition }: OpenedWorkspace,
  drive: DriveOptions & Pick<EnginePorts, 'serve' | 'beforeDelivery'>,
  admit: EnginePorts['admit'],
): EnginePorts {
  return { ...composition, host, admit, ...defined({ ...drive }) };
}
