// Loaded when a run first needs them; time would pass while the machine reads them.
import '../../../src/engine/operations/publish-run.ts';
import '../../../src/engine/sinks/folder-sink.ts';
import '../../../src/engine/sinks/forge-sink.ts';
import '../../../src/engine/sinks/project-files.ts';
import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compose } from '../../../src/engine/compose.ts';
import { openRunResources, type RunResources } from '../../../src/engine/run-resources.ts';
import { startSegment, type SegmentEnd } from '../../../src/engine/run-loop.ts';
import { createRedactor } from '../../../src/model/redaction/redactor.ts';
import { RUN_EVENTS, type RunDefinition } from '../../../src/model/run.ts';
import { playbookOfRun } from '../../../src/playbooks/registry.ts';
import type { RunEvent } from '../../../src/model/run-event.ts';
import { readHistory, type RunHistory } from '../../../src/view/read-run.ts';
import { readLedgerHistory, type WholeHistory, checkHistory } from '../../support/ledger-history.ts';
import type { Violation } from '../../../src/substrate/ledger/check-database.ts';
import { ledgerPath } from '../../../src/substrate/ledger/index.ts';
import type { Clock } from '../../../src/substrate/ports/clock.ts';
import type { Forge } from '../../../src/substrate/ports/forge.ts';
import type { Ledger } from '../../../src/substrate/ports/ledger.ts';
import type { Workspaces } from '../../../src/substrate/ports/workspaces.ts';
import { plainJson } from '../../../src/text/json.ts';
import { createEngineLife, type Death, type EngineLife } from './engine-life.ts';
import { showRun, type Shown } from './shown.ts';
import { createSimulatedAgents, type Cast, type SimulatedAgents } from './simulated-agents.ts';
import { createSimulatedRepository, type SimulatedRepository } from './simulated-repository.ts';
import { setStage, type Stage } from './stage.ts';
import { testHost } from '../../support/test-host.ts';
import { createVirtualTime, type VirtualTime } from '../../support/virtual-time.ts';

/** How one engine ends before its run does. */
export interface Crash extends Death {
  /** Until the next engine is started. */
  readonly downMs: number;
  /** The machine goes down with it, and every agent. */
  readonly reboot: boolean;
}

/** Something that happens to the clock once the world has run for so long. */
export interface ClockFault {
  readonly afterMs: number;
  readonly do: 'step' | 'suspend';
  readonly ms: number;
}

export interface WorldPlan {
  readonly seed: number;
  /** Epoch ms at the start. */
  readonly wall: number;
  readonly definition: Omit<RunDefinition, 'repository'>;
  readonly cast: (time: VirtualTime, stage: Stage) => Cast;
  /** Of the first engines, in turn. */
  readonly crashes: readonly Crash[];
  readonly clockFaults: readonly ClockFault[];
  /** What git takes for what an engine asks of the run branch; absent: no time, so that nothing comes in between. */
  readonly gitMs?: number;
  /** To a question that the run waits for, the n-th time it is asked. */
  answer(question: string, options: readonly string[], time: number): string;
  /** ms of running time that all of it may take. */
  readonly most: number;
  /** Each event that an engine (from 0) shows, as long as it lives. `folder`: where the run's ledger is. */
  onEvent?(event: RunEvent, engine: number, folder: string): void;
}

/** A run that has ended. */
export interface WorldEnd {
  readonly end: SegmentEnd;
  readonly reading: RunHistory;
  readonly shown: Shown;
  readonly history: WholeHistory;
  /** Promises of the ledger that its rows break. */
  readonly violations: readonly Violation[];
  readonly agents: SimulatedAgents;
  readonly repository: SimulatedRepository;
  /** Engines that it took. */
  readonly engines: number;
  readonly ranMs: number;
  /** Of its databases, as the last engine left them. */
  readonly bytes: number;
}

/** In memory where there is such a place: engines that die here take no disk with them, and flushing is most of the time. */
const ROOM = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
/** Further engines would be a run that never ends. */
const MOST_ENGINES = 60;
const RUN = 'simulated';

const LEDGER_EFFECTS = [
  'renewLease',
  'releaseLease',
  'apply',
  'observe',
  'markSpawned',
  'settle',
  'append',
  'note',
  'claimCheck',
  'command',
  'fireTimer',
];
const REPOSITORY_EFFECTS = [
  'addFolder',
  'moveFolder',
  'standOn',
  'rescue',
  'removeFolder',
  'resetFolder',
  'keepAttempt',
  'createRunBranch',
  'integrate',
  'advance',
];

/**
 * One run by the real engine - graph, decisions, supervisor, ledger, checkpoints - in a world of simulated time, agents and
 * git. The same plan makes the same history, to the last event.
 */
export async function runWorld(plan: WorldPlan): Promise<WorldEnd> {
  const folder = realpathSync(mkdtempSync(join(ROOM, 'squad-simulation-')));
  try {
    const time = createVirtualTime(plan.wall);
    const repository = createSimulatedRepository();
    const stage = setStage({ id: runIdOf(plan), name: RUN }, folder, time, repository);
    const agents = createSimulatedAgents(time, repository, plan.cast(time, stage), plan.seed);
    const world = { plan, folder, time, repository, agents };
    for (const { afterMs, do: what, ms } of plan.clockFaults) {
      time.after(afterMs, () => (what === 'step' ? time.stepWall(ms) : time.suspend(ms)));
    }
    const { end, reading, shown, engines } = await time.pass(liveThrough(world), plan.most).finally(stage.close);
    const history = readLedgerHistory(ledgerPath(folder));
    const { turns, usd, tokens } = reading.limits;
    const limits = { turns, usd, ...(tokens === undefined ? {} : { tokens }) };
    const violations = checkHistory(ledgerPath(folder), { [reading.row.id]: [{ since: 0, limits }] });
    return {
      end,
      reading,
      shown,
      history,
      violations,
      agents,
      repository,
      engines,
      ranMs: time.monotonic(),
      bytes: bytesOf(folder),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

function bytesOf(folder: string): number {
  const databases = readdirSync(folder).filter((name) => /^(?:squad|checkpoints)\.db(?:-wal)?$/.test(name));
  return databases.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

interface World {
  readonly plan: WorldPlan;
  readonly folder: string;
  readonly time: VirtualTime;
  readonly repository: SimulatedRepository;
  readonly agents: SimulatedAgents;
}

/** Engine after engine, until one brings the run to an end. */
async function liveThrough(world: World): Promise<Pick<WorldEnd, 'end' | 'reading' | 'shown' | 'engines'>> {
  const { plan, time, agents } = world;
  const asked = new Map<string, number>();
  for (let engine = 0; engine < MOST_ENGINES; engine += 1) {
    const crash = plan.crashes[engine];
    const life = createEngineLife(crash);
    const resources = openRunResources(
      { clock: time.clock(life.lives), redactor: () => createRedactor([]), host: testHost(world.folder) },
      world.folder,
    );
    try {
      const end = await Promise.race([driveOnce(world, resources, life, engine), life.died]);
      if (end !== undefined && life.lives()) {
        const reading = readHistory(resources.ledger, undefined, null);
        if (end.end !== 'waiting')
          return { end, reading, shown: await showRun(world, resources.ledger, reading), engines: engine + 1 };
        answerAll(world, resources.ledger, reading, asked);
      }
    } finally {
      life.die();
      // Not in the middle of whatever it was doing: what it holds goes once its last words are spoken.
      await time.clock().sleep(1);
      resources.close();
    }
    if (crash?.reboot === true) agents.reboot();
    await time.clock().sleep(crash?.downMs ?? 1_000);
  }
  throw new Error(`the run did not end with ${MOST_ENGINES} engines`);
}

/** What `squad run` and `squad resume` do between opening a workspace and closing it. */
async function driveOnce(world: World, resources: RunResources, life: EngineLife, engine: number): Promise<SegmentEnd> {
  const { plan, time, repository, agents, folder } = world;
  const { ledger } = resources;
  const runId = runIdOf(plan);
  const known = ledger.run(runId);
  if (known === undefined) ledger.createRun({ id: runId, name: RUN });
  const lease = ledger.acquireLease(runId, `engine ${engine + 1}`);
  const defined = ledger.events({ stream: runId }).find(({ type }) => type === RUN_EVENTS.defined);
  const definition = definitionOf(world);
  const inputRef = defined?.seq ?? ledger.note(lease, RUN_EVENTS.defined, plainJson(definition));
  const playbook = playbookOfRun({}, definition);
  if (playbook === undefined) throw new Error(`there is no playbook ${definition.playbook}`);
  const clock = time.clock(life.lives);
  const guarded: RunResources = {
    ...resources,
    ledger: life.guard(ledger, LEDGER_EFFECTS),
    checkpointer: life.guardAsync(resources.checkpointer, ['put', 'putWrites']),
  };
  const segment = startSegment(
    {
      clock,
      processes: agents.processes,
      runtimes: compose(testHost(folder)).runtimes,
      runtime: (name) => agents.runtime(name, clock, life.lives),
      checkRuntime: () => agents.runtime('check', clock, life.lives),
      mailServer: () => ({ command: '/nowhere', args: [] }),
      taskCage: () => Promise.resolve({ type: 'none', why: 'nothing runs here', next: 'run it elsewhere' }),
      redactor: () => createRedactor([]),
      host: testHost(folder),
      workspaces: life.guardAsync(slowed(repository.workspaces, clock, plan.gitMs ?? 0), REPOSITORY_EFFECTS),
      forge: NO_FORGE,
      playbook,
      onEvent: (event) => {
        if (life.lives()) plan.onEvent?.(event, engine, folder);
      },
    },
    guarded,
    {
      lease,
      definition,
      limits: definition.limits,
      inputRef,
      resumed: defined !== undefined,
      since: ledger.lastSeq(),
    },
  );
  const end = await segment.done.catch(async (error: unknown) => {
    if (life.lives()) throw error;
    return new Promise<never>(() => undefined);
  });
  guarded.ledger.releaseLease(lease);
  return end;
}

/** The same, after a while: whoever moves the run branch may be faster. */
function slowed(workspaces: Workspaces, clock: Clock, ms: number): Workspaces {
  if (ms === 0) return workspaces;
  const { runHead, integrate, integrationAt, advance, isAncestor, createRunBranch, keepAttempt } = workspaces;
  const after =
    <P extends unknown[], R>(call: (...parameters: P) => Promise<R>) =>
    async (...parameters: P): Promise<R> => {
      await clock.sleep(ms);
      return call(...parameters);
    };
  return {
    ...workspaces,
    runHead: after(runHead),
    integrate: after(integrate),
    integrationAt: after(integrationAt),
    advance: after(advance),
    isAncestor: after(isAncestor),
    createRunBranch: after(createRunBranch),
    keepAttempt: after(keepAttempt),
  };
}

function answerAll({ plan }: World, ledger: Ledger, { row, questions }: RunHistory, asked: Map<string, number>): void {
  if (questions.length === 0) throw new Error('the run waits, and asks nothing');
  for (const { id, options } of questions) {
    const time = (asked.get(id) ?? 0) + 1;
    asked.set(id, time);
    ledger.command(row.id, 'answer', { question: id, answer: plan.answer(id, options, time) }, 'a person');
  }
}

function definitionOf({ plan, repository }: World): RunDefinition {
  return {
    ...plan.definition,
    name: RUN,
    repository: { root: '/simulated/repository', base: repository.base, branch: 'main' },
  };
}

/** As long as the seed is: nothing about it is random. */
function runIdOf({ seed }: WorldPlan): string {
  return `00000000-0000-7000-8000-${seed.toString(16).padStart(12, '0')}`;
}

const NO_FORGE: Forge = {
  findRemote: () => Promise.resolve({ type: 'refused', why: 'there is no remote' }),
  remotes: () => Promise.resolve(['origin']),
  fetch: () => Promise.resolve({ type: 'refused', why: 'there is no remote' }),
  push: () => Promise.resolve({ type: 'refused', why: 'there is no remote' }),
  findPullRequest: () => Promise.resolve({ type: 'none' }),
  openPullRequest: () => Promise.resolve({ type: 'refused', why: 'there is no remote' }),
  writePullRequest: () => Promise.resolve({ type: 'refused', why: 'there is no remote' }),
  readIssue: () => Promise.resolve({ type: 'refused', why: 'there is no remote' }),
};
