import { dirname, join } from 'node:path';
import type { Composition, Host } from './compose.ts';
import { setBackSince } from './engine/clock-steps.ts';
import { openRunResources, writeRunFile, type RunResources } from './engine/run-resources.ts';
import { endLeftovers } from './engine/end-leftovers.ts';
import { progressOf, type RunProgress } from './read-model/progress.ts';
import { keepBackup } from './engine/keep-backup.ts';
import { nothingLeft, branchTaken, worktreesTaken, unknownPlaybook } from './engine/refusals.ts';
import { startSegment, type Segment, type SegmentEnd } from './engine/run-loop.ts';
import { writeReport, type WrittenReport } from './engine/write-report.ts';
import { fullAccessWarning } from './model/access.ts';
import { exitCodeOf } from './model/exit-code.ts';
import { plainJson } from './text/json.ts';
import { isStorageError } from './model/storage-error.ts';
import { RUN_EVENTS, type RunDefinition, type RunOutcome } from './model/run.ts';
import type { RunEvent } from './model/run-event.ts';
import type { Limits, SomeLimits } from './model/limits.ts';
import { playbookOfRun } from './playbooks/registry.ts';
import { isOver, noRunYet, readRun } from './read-model/read-run.ts';
import { pickRun } from './read-model/unfinished.ts';
import { uuid7 } from './substrate/clock/ids.ts';
import { failpoint } from './substrate/failpoint.ts';
import { createGitWorkspaces } from './substrate/git/git-workspaces.ts';
import { inspectRepository } from './substrate/git/inspect-repository.ts';
import { openCheckout } from './substrate/git/repository.ts';
import { hasLedger, holderName } from './substrate/ledger/index.ts';
import type { Lease, Ledger } from './substrate/ports/ledger.ts';
import type { RepositoryReport, Workspaces } from './substrate/ports/workspaces.ts';

export interface EnginePorts extends Composition {
  readonly host: Host;
  /** A run ends (exit 4) instead of waiting longer than this (ms) for a usage limit; absent: it waits. */
  readonly patienceMs?: number;
  /** Everything that `run --json` prints but its last line. Called in order; must not throw. */
  onEvent?(event: RunEvent): void;
}

export interface RunEnd extends Omit<WrittenReport, 'conclusion'> {
  readonly runId: string;
  readonly name: string;
  readonly outcome: RunOutcome;
  /** One line, the same in every output: `DONE, …`. */
  readonly headline: string;
  readonly why: string;
  readonly branch: string;
  readonly head: string | undefined;
  /** As the command line exits, but for signals. */
  readonly exitCode: number;
}

/** A run under way in this process. */
export interface RunningRun {
  readonly runId: string;
  readonly name: string;
  readonly done: Promise<RunEnd>;
  /** Current progress, as `squad status` counts it. Must not be called after `done`. */
  progress(): RunProgress;
  /** Start nothing new; it ends once nothing lives, and no sweep takes it up again. `by`: who wanted it, for people. */
  drain(by?: string): void;
  /** Ends turns and checks now, politely first; at most 10 s. */
  cancel(reason: string): Promise<void>;
  /** Kills everything of the run at once. */
  kill(): Promise<void>;
}

/** Makes a run of a definition that the preflight made, and drives it. Throws before anything exists where it cannot. */
export async function startRun(
  ports: EnginePorts,
  definition: RunDefinition,
  repository: RepositoryReport,
): Promise<RunningRun> {
  const workspaces = workspacesOf(ports, repository);
  return begin(workspaces, async () => {
    if ((await workspaces.runHead(definition.name)) !== undefined) throw branchTaken(definition.name);
    const [old] = await workspaces.listWorktrees(definition.name);
    if (old !== undefined) throw worktreesTaken(definition.name, dirname(old.workspace.path));
    const resources = openRunResources(ports, join(repository.root, '.squad'));
    return guard(resources, () => {
      const { ledger } = resources;
      const runId = uuid7(ports.clock.now());
      resources.claim(runId);
      ledger.createRun({ id: runId, name: definition.name });
      failpoint('run.created');
      const lease = ledger.acquireLease(runId, holderName(ports.host.pid));
      const inputRef = ledger.note(lease, RUN_EVENTS.defined, plainJson(definition));
      failpoint('run.defined');
      writeRunFile(resources.directory, runId, 'objective.md', definition.objective.text);
      const of = { lease, definition, limits: definition.limits, inputRef, resumed: false };
      return drive(ports, resources, repository, workspaces, of);
    });
  });
}

/**
 * Goes on with a run that ended, waited, stopped or died; the one that needs it most unless one is named. What held it back
 * is lifted. `raise`: limits from now on.
 */
export async function resumeRun(
  ports: EnginePorts,
  path: string,
  idOrName: string | undefined,
  raise: SomeLimits = {},
): Promise<RunningRun> {
  const repository = await inspectRepository(ports.git, path);
  const directory = join(repository.root, '.squad');
  if (!hasLedger(directory)) throw noRunYet();
  const resources = openRunResources(ports, directory);
  return guard(resources, () => {
    const { ledger } = resources;
    const urgent = idOrName ?? pickRun(ledger, ports.clock.now(), Object.keys(raise).length > 0)?.runId;
    const before = readRun(ledger, urgent, null);
    const { row } = before;
    if (isOver(before)) throw nothingLeft(row.name);
    resources.claim(row.id);
    const newest = ledger.events({ stream: row.id }).at(-1)?.at ?? 0;
    const lease = ledger.acquireLease(row.id, holderName(ports.host.pid));
    const back = setBackSince(newest, ports.clock.now());
    if (back > 0) ledger.note(lease, RUN_EVENTS.clockSetBack, { ms: back });
    if (Object.keys(raise).length > 0) ledger.note(lease, RUN_EVENTS.limitsRaised, plainJson(raise));
    const { definition, limits } = readRun(ledger, row.id, null);
    const defined = ledger.events({ stream: row.id }).find(({ type }) => type === RUN_EVENTS.defined);
    const of = { lease, definition, limits, inputRef: defined?.seq ?? 0, resumed: true };
    return drive(ports, resources, repository, workspacesOf(ports, repository), of);
  });
}

/**
 * Ends what a dead engine left running of a run, and settles it; no sweep takes the run up again. Returns the attempts that
 * were ended.
 */
export async function haltRun(ports: EnginePorts, path: string, runId: string, by: string): Promise<string[]> {
  const repository = await openCheckout(ports.git, path);
  const resources = openRunResources(ports, join(repository.root, '.squad'));
  try {
    const { ledger, directory } = resources;
    const { definition } = readRun(ledger, runId, null);
    ledger.command(runId, 'stop', {}, by);
    const lease = ledger.acquireLease(runId, holderName(ports.host.pid));
    const ended = await endLeftovers({ ...ports, ledger, lease, definition, turnsDirectory: join(directory, 'turns') });
    ledger.releaseLease(lease);
    return ended;
  } finally {
    resources.close();
  }
}

interface Driven {
  readonly lease: Lease;
  readonly definition: RunDefinition;
  readonly limits: Limits;
  readonly inputRef: number;
  readonly resumed: boolean;
}

function drive(
  ports: EnginePorts,
  resources: RunResources,
  repository: RepositoryReport,
  workspaces: Workspaces,
  of: Driven,
): RunningRun {
  const { definition, lease } = of;
  const playbook = playbookOfRun(definition);
  if (playbook === undefined) throw unknownPlaybook(definition.playbook);
  const onEvent = (event: RunEvent): void => ports.onEvent?.(event);
  const branch = `squad/${definition.name}`;
  const { base } = definition.repository;
  onEvent({
    type: 'run-started',
    at: ports.clock.now(),
    runId: lease.runId,
    name: definition.name,
    resumed: of.resumed,
    playbook: definition.playbook,
    branch,
    base,
    agents: definition.agents.map(({ name, role, runtime, model }) => ({
      name,
      role,
      runtime,
      ...(model === undefined ? {} : { model }),
    })),
  });
  for (const text of resources.notices) onEvent({ type: 'warning', at: ports.clock.now(), runId: lease.runId, text });
  const { patienceMs } = ports;
  const unconfined = fullAccessWarning(definition.agents);
  if (unconfined !== undefined) {
    onEvent({ type: 'warning', at: ports.clock.now(), runId: lease.runId, text: unconfined });
  }
  const segment = startSegment({ ...ports, workspaces, forge: ports.forge(repository), playbook, onEvent }, resources, {
    ...of,
    patienceMs,
    since: resources.ledger.lastSeq(),
  });
  return {
    runId: lease.runId,
    name: definition.name,
    done: finish(ports, resources, workspaces, segment, of),
    progress: () => progressOf(segment.board(), resources.ledger.totals(lease.runId), segment.workClock.totalMs()),
    drain: (by = 'its host') => segment.control.drain(by),
    cancel: async (reason) => segment.control.cancel(reason),
    kill: async () => segment.control.kill(),
  };
}

/** Whatever becomes of the segment: nothing of it lives on, its report is written, and the workspace is free again. */
async function finish(
  ports: EnginePorts,
  resources: RunResources,
  workspaces: Workspaces,
  segment: Segment,
  { definition, lease }: Driven,
): Promise<RunEnd> {
  try {
    const end = await settle(segment, resources, lease);
    const release = (): void => resources.ledger.releaseLease(lease, segment.workClock.segmentMs());
    const { runId } = lease;
    const head = await workspaces.runHead(definition.name);
    const finished = end.end === 'finished';
    if (!finished) release();
    const { conclusion, ...written } = await writeReport(ports, resources, workspaces, runId);
    // Last: who is killed before this has the report of a finished run written by the engine that resumes.
    if (finished) {
      release();
      await keepBackup(ports, resources, runId);
    }
    const outcome = conclusion?.outcome ?? outcomeOf(end, segment.control.stopped());
    return {
      runId,
      name: definition.name,
      outcome,
      headline: conclusion?.headline ?? `${outcome.toUpperCase()}, ${end.why}`,
      why: end.why,
      branch: `squad/${definition.name}`,
      head,
      ...written,
      exitCode: conclusion?.exitCode ?? exitCodeOf(outcome),
    };
  } finally {
    await workspaces.close();
    resources.close();
  }
}

/** Whatever a `stop` cut short, it is stopped and not interrupted. */
function outcomeOf(end: SegmentEnd, stoppedBy: string | undefined): RunOutcome {
  if (end.end === 'finished') return end.outcome;
  return stoppedBy === undefined ? end.end : 'stopped';
}

/** A broken machine leaves its turns running for the next engine to adopt: they are paid for. */
async function settle(segment: Segment, { ledger }: RunResources, lease: Lease): Promise<SegmentEnd> {
  try {
    return await segment.done;
  } catch (error) {
    await segment.supervisor.detach();
    letGo(ledger, lease, segment.workClock.segmentMs(), isStorageError(error) ? error.message : undefined);
    throw error;
  }
}

/**
 * `pause`: what the disk is waited for, for people. A first try that finds it full frees the ballast for the second. What
 * cannot be written at all, the error says.
 */
function letGo(ledger: Ledger, lease: Lease, workedMs: number, pause: string | undefined): void {
  for (let tries = 0; tries < 2; tries += 1) {
    try {
      if (pause !== undefined) ledger.note(lease, RUN_EVENTS.decided, { next: 'stop', because: 'waiting', why: pause });
      return ledger.releaseLease(lease, workedMs);
    } catch {
      // Told by the error that ended the segment.
    }
  }
}

function workspacesOf(ports: EnginePorts, repository: RepositoryReport): Workspaces {
  const stateDirectory = join(ports.host.stateHome, 'squad');
  return createGitWorkspaces({ ...ports.git, clock: ports.clock, stateDirectory }, repository);
}

/** A run that does not begin leaves nothing of what was looked up for it. */
async function begin<T>(workspaces: Workspaces, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await workspaces.close();
    throw error;
  }
}

function guard<T>(resources: RunResources, work: () => T): T {
  try {
    return work();
  } catch (error) {
    resources.close();
    throw error;
  }
}
