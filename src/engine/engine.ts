import { mkdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Composition, Host } from './compose.ts';
import { setBackSince } from './watch-run.ts';
import { branchTaken } from './branch-taken.ts';
import { restoreEmptyBranch } from './restore-branch.ts';
import { leftTurnsText, sayingWhatIsLeft } from './left-turns.ts';
import { watchCheckout } from './checked-out.ts';
import { workspacesOf } from './workspaces.ts';
import { endRun } from './end-run.ts';
import { createNotifier } from './notifier.ts';
import { createRunFiles } from './sinks/run-files.ts';
import { loadSinks } from './sinks/sinks.ts';
import { keepCopies } from '../substrate/system/files/copied-files.ts';
import { storeContents } from '../substrate/system/files/content-store.ts';
import { showState } from '../substrate/system/files/checkout-view.ts';
import { armoryFolder, copiesFolder, runFolder } from '../substrate/system/files/run-files.ts';
import { requireRegistered, runtimesFor } from './needs.ts';
import { watchPlaces } from './lost-place.ts';
import { openRunResources, type RunResources } from './run-resources.ts';
import { progressOf } from '../view/usage-count.ts';
import type { RunningRun } from '../view/running-run.ts';
import { startOf } from './started-event.ts';
import { startSegment } from './run-loop.ts';
import { recordLimits } from '../substrate/ledger/record-limits.ts';
import { takeLease } from './take-lease.ts';
import { afterTraces, openTracing, tracingOf, withLastLook, type SegmentTracing } from './trace-run.ts';
import type { SegmentOf } from './wire-run.ts';
import { fullAccessWarning, unconfinedWarning } from '../model/access.ts';
import { applicationWarning, experimentalWarning } from '../model/runtime-description.ts';
import { SquadError } from '../model/errors.ts';
import type { ServeSettings } from '../model/shared-limits.ts';
import type { Content } from '../model/content.ts';
import { plainJson, type Json } from '../text/json.ts';
import type { Playbook } from '../model/plan.ts';
import type { Board } from '../model/plan/board.ts';
import { placedAt, RUN_EVENTS, type RunDefinition } from '../model/run.ts';
import { keepsFolder } from '../playbooks/registry.ts';
import type { RunEvent } from '../model/run-event.ts';
import type { Limits, SomeLimits } from '../model/limits.ts';
import { consentContent } from '../view/run-consent.ts';
import { isOver, readHistory, readRun, runIsOver } from '../view/read-run.ts';
import { noRunYet } from '../model/unknown-name.ts';
import { listUnfinished, mostUrgent } from '../view/unfinished.ts';
import { uuid7 } from '../substrate/system/clock/ids.ts';
import { failpoint } from '../substrate/system/failpoint.ts';
import { bindState, findState } from '../substrate/system/files/state-place.ts';
import { inspectForWork } from '../substrate/git/inspect-repository.ts';
import { hasLedger } from '../substrate/ledger/index.ts';
import type { TraceOption } from './tracing/target.ts';
import type { RepositoryReport, Workspaces } from '../substrate/ports/workspaces.ts';

export { forkRun, makeRefs, type RecordedFork } from './fork-run.ts';
export { haltRun } from './halt-run.ts';
export { writeFoldersAgain } from './write-folder.ts';
export { promptsOf, type RunPrompts } from './run-prompts.ts';

export interface EnginePorts extends Composition {
  readonly host: Host;
  /** A run ends (exit 4) instead of waiting longer than this (ms) for a usage limit; absent: it waits. */
  readonly patienceMs?: number;
  /** See `DriveOptions`; absent: no person answers questions. */
  readonly attended?: AbortSignal;
  /** Asks for traces, whatever the run's settings say; absent: they decide. */
  readonly trace?: TraceOption;
  /** Also sends the nodes of the engine. */
  readonly traceDetail?: boolean;
  /** The person's settings of all runs together. Absent: that stays as it is. */
  readonly serve?: ServeSettings | undefined;
  /**
   * Throws if the run cannot begin or go on, and unless this person has agreed to it. Called once this process has the workspace, before
   * anything is recorded or started.
   */
  admit(run: RunToAdmit): Admission | Promise<Admission>;
  /** Everything that `run --json` prints but its last line. Called in order; must not throw. */
  onEvent?(event: RunEvent): void;
  /** Before anything of the run leaves this machine. Resolves once its records are kept elsewhere too; absent: at once. */
  beforeDelivery?(): Promise<void>;
}

/** A run that an engine is about to drive. */
export interface RunToAdmit {
  readonly id: string;
  readonly definition: RunDefinition;
  /** Those that hold for it now. */
  readonly limits: Limits;
  /** See `consentContent`. */
  readonly content: readonly Json[];
}

/** `ends`: the run only has to end, and leaves the folder that it was started on as it is. */
export type Admission = 'plays' | 'ends';

interface NewRun {
  readonly runId?: string | undefined;
  /** Every content that the definition names by its hash. */
  readonly contents?: readonly Content[];
}

/** Creates a run from a definition of the preflight, and drives it. Throws before it creates anything if it cannot. */
export async function startRun(
  ports: EnginePorts,
  definition: RunDefinition,
  repository: RepositoryReport,
  { runId = uuid7(ports.clock.now()), contents = [] }: NewRun = {},
): Promise<RunningRun> {
  const playbook = requireRegistered(ports, definition);
  // The first turn waits for the answer; a platform without one refuses the turn.
  ports.processes.isolation().catch(() => undefined);
  const { directory } = bindState(ports.host.stateDirectory, repository.commonDirectory, basename(repository.root));
  const workspaces = workspacesOf(ports, repository, directory, definition);
  return closeOnFailure(workspaces, async () => {
    const [old] = await workspaces.listFolders(definition.name);
    if (old !== undefined) throw foldersTaken(definition.name, dirname(old.path));
    const tracing = tracingOf(ports, definition);
    const resources = openRunResources(ports, directory);
    return closeOnFailure(resources, async () => {
      const { ledger } = resources;
      resources.claim(runId);
      await ports.admit({ id: runId, definition, limits: definition.limits, content: [plainJson(definition)] });
      // Before there is a run that names them: the files that they were read from may change from now on.
      await storeContents(armoryFolder(resources.directory, runId), contents);
      await keepCopies(repository.root, copiesFolder(resources.directory, runId), definition.copied ?? []);
      failpoint('armory.stored');
      if (definition.repositories !== undefined) await (await loadSeveral()).join(ports, repository, definition);
      // Another person's squad, or one with another state folder, may use the same repository.
      const claimed = await workspaces.createRunBranch(definition.name, definition.repository.base, [], runId);
      if (claimed.type === 'taken') throw branchTaken(definition.name);
      // Only where there are such limits: most runs begin without them.
      if (Object.keys(ports.serve?.limits ?? {}).length > 0 || ledger.spending(runId).shared !== undefined) {
        recordLimits(ledger, ports.serve);
      }
      ledger.createRun({ id: runId, name: definition.name });
      failpoint('run.created');
      const lease = await takeLease(ports, resources, runId);
      const inputRef = ledger.note(lease, RUN_EVENTS.defined, plainJson(definition));
      failpoint('run.defined');
      const of = { lease, definition, limits: definition.limits, inputRef, resumed: false };
      return drive({ ...ports, ...tracing }, resources, repository, workspaces, playbook, of);
    });
  });
}

/**
 * Continues a run that waited, stopped, was interrupted or lost its engine; by default the one that needs it most. Lifts a
 * pause of the whole run. `raise`: limits from now on.
 */
export async function resumeRun(
  ports: EnginePorts,
  path: string,
  idOrName: string | undefined,
  raise: SomeLimits = {},
): Promise<RunningRun> {
  const repository = await inspectForWork(ports.git, path);
  const found = findState(ports.host.stateDirectory, repository.commonDirectory);
  if (found.type === 'none' || !hasLedger(found.directory)) throw noRunYet();
  const { directory } = bindState(ports.host.stateDirectory, repository.commonDirectory, basename(repository.root));
  const resources = openRunResources(ports, directory);
  return closeOnFailure(resources, async () => {
    const { ledger } = resources;
    const raises = Object.keys(raise).length > 0;
    const urgent = idOrName ?? mostUrgent(listUnfinished(ledger, null, ports.clock.now()), raises)?.runId;
    const before = readHistory(ledger, urgent, null);
    const { row } = before;
    if (isOver(before)) throw runIsOver(row.name);
    const playbook = requireRegistered(ports, before.definition, runtimesFor(before));
    const tracing = tracingOf(ports, before.definition);
    resources.claim(row.id);
    // If the work below throws, warns of turns that the previous engine left running.
    const warn = (text: string): void =>
      ports.onEvent?.({ type: 'warning', at: ports.clock.now(), runId: row.id, text });
    const left = { ledger, processes: ports.processes, warn };
    return sayingWhatIsLeft(left, { runId: row.id, name: row.name }, async () => {
      const content = consentContent(ledger, row.id);
      const admitted = await ports.admit({ id: row.id, definition: before.definition, limits: before.limits, content });
      if (before.definition.submitted !== undefined && before.workspace === undefined)
        await (await import('./begin-submitted.ts')).beginSubmitted(ports, { ledger, repository, directory }, before);
      const newest = ledger.events({ stream: row.id }).at(-1)?.at ?? 0;
      const lease = await takeLease(ports, resources, row.id);
      const back = setBackSince(newest, ports.clock.now());
      if (back > 0) ledger.note(lease, RUN_EVENTS.clockSetBack, { ms: back });
      recordLimits(ledger, ports.serve);
      if (raises) ledger.note(lease, RUN_EVENTS.limitsRaised, plainJson(raise));
      const { definition: stored, limits } = readRun(ledger, row.id, null);
      const definition = placedAt(stored, repository.root);
      const first = ledger.events({ stream: row.id }).find(({ type }) => type === RUN_EVENTS.defined);
      const of = { lease, definition, limits, inputRef: first?.seq ?? 0, resumed: before.segments.length > 0 };
      const workspaces = workspacesOf(ports, repository, directory, definition);
      await restoreEmptyBranch({ ledger, lease, definition, workspaces });
      return drive({ ...ports, ...tracing }, resources, repository, workspaces, playbook, of, admitted);
    });
  });
}

async function drive(
  ports: EnginePorts & SegmentTracing,
  resources: RunResources,
  repository: RepositoryReport,
  workspaces: Workspaces,
  playbook: Playbook<unknown>,
  of: Omit<SegmentOf, 'since'>,
  admitted: Admission = 'plays',
): Promise<RunningRun> {
  const { definition, lease } = of;
  // For people, from the first moment on. Where it cannot be made, a warning comes with the first file that is to be in it.
  await mkdir(runFolder(resources.directory, lease.runId), { recursive: true, mode: 0o700 }).catch(() => undefined);
  showState(repository.root, resources.directory);
  const show = (event: RunEvent): void => ports.onEvent?.(event);
  const notifier = createNotifier({ ...ports, onEvent: show }, definition, lease.runId);
  const onEvent = (event: RunEvent): void => {
    show(event);
    notifier.hear(event);
  };
  const base = { at: ports.clock.now(), runId: lease.runId };
  onEvent(startOf(definition, of.resumed, base));
  const tracer = await openTracing(ports, resources.ledger, of, onEvent);
  const free = [fullAccessWarning(definition.agents), unconfinedWarning(definition), applicationWarning(definition)];
  const about = [...free, experimentalWarning(definition)];
  for (const text of [...resources.notices, ...about, ports.untraced].flatMap((one) => one ?? []))
    onEvent({ type: 'warning', ...base, text });
  const warn = (text: string): void => onEvent({ type: 'warning', at: ports.clock.now(), runId: lease.runId, text });
  const keeps = admitted === 'ends' ? undefined : keepsFolder(definition);
  // Before anything looks at the work of a folder that has them.
  const { copied = [], name } = definition;
  if (copied.length > 0) await workspaces.noteCopies(name, copied, copiesFolder(resources.directory, lease.runId));
  const watched = watchCheckout(workspaces, { run: definition.name, resumed: of.resumed, warn });
  const files = createRunFiles(
    { ...ports, ledger: resources.ledger, workspaces, playbook, keeps, warn, sinks: await loadSinks() },
    resources.directory,
    of,
  );
  const { patienceMs, attended } = ports;
  const several = definition.repositories && (await loadSeveral()).severalOf(ports, repository, definition);
  const watch = watchPlaces(resources, ports.host.stateDirectory, repository);
  const started = startSegment(
    { ...ports, workspaces: watched, forge: ports.forge(repository), several, playbook, onEvent, tracer, files },
    resources,
    { ...of, patienceMs, attended, since: resources.ledger.lastSeq(), watch },
  );
  const segment = withLastLook(started, tracer);
  const plan = planOf(segment, resources, lease.runId);
  const end = endRun({ ...ports, files, playbook, watch, tracer }, resources, watched, segment, of);
  return {
    runId: lease.runId,
    name: definition.name,
    done: afterTraces(end, tracer).then(async (ended) => notifier.ended(ended)),
    progress: () => progressOf(plan(), resources.ledger.totals(lease.runId), segment.workClock.totalMs()),
    drain: (by = 'its host') => segment.control.drain(by),
    cancel: async (reason) => segment.control.cancel(reason),
    kill: async () => segment.control.kill(),
    leftTurns: async () =>
      leftTurnsText({ ...ports, ledger: resources.ledger }, { runId: lease.runId, name: definition.name }),
  };
}

/** At the beginning: later, another version of squad may be installed. */
async function loadSeveral(): Promise<typeof import('./several/ports.ts')> {
  return import('./several/ports.ts');
}

/** Until the engine has read the plan, it is as the last engine left it. */
function planOf(
  segment: { board(): Board | undefined },
  { ledger }: Pick<RunResources, 'ledger'>,
  runId: string,
): () => Board {
  let before: Board | undefined;
  return () => segment.board() ?? (before ??= readRun(ledger, runId, null).board);
}

/** Closes what was opened for a run that does not begin. */
async function closeOnFailure<T>(opened: { close(): unknown }, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** The record of that run was deleted; its folders may still hold work. */
function foldersTaken(name: string, folder: string): SquadError {
  return new SquadError({
    code: 'bad-input',
    message: `${folder} has folders of an older run ${name}, which squad has no record of`,
    next: `Give the run another name (\`--name\`), or remove that folder once you need nothing in it.`,
  });
}
