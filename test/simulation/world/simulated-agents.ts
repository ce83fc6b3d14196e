import { asObject } from '../../../src/text/json.ts';
import type { ProcessIdentity } from '../../../src/model/process-identity.ts';
import type { TurnRequest } from '../../../src/model/turn-request.ts';
import type { TurnResult } from '../../../src/model/turn-result.ts';
import type { AgentRuntime, Turn, TurnContext } from '../../../src/runtimes/port/agent-runtime.ts';
import type { Clock } from '../../../src/substrate/ports/clock.ts';
import type { Processes } from '../../../src/substrate/ports/processes.ts';
import type { VirtualTime } from '../../support/virtual-time.ts';
import { draw } from './draw.ts';
import type { SimulatedRepository, Deed } from './simulated-repository.ts';

/** What an agent is about to do with a turn. Plain data: the same turn of the same cast is always the same. */
export interface Part {
  readonly ms: number;
  /** After how long it uses its first tool; absent: it never does. */
  readonly toolMs?: number;
  readonly result: Pick<TurnResult, 'outcome'> & Partial<TurnResult>;
  /** Done in its folder at the end, whatever its result says. */
  readonly deed?: Deed;
  /** Something that happens in the world while it is at work, after so long; not where it was ended before. */
  readonly meanwhile?: { readonly afterMs: number; act(): void };
}

/** A turn as a cast sees it. */
export interface Cue {
  readonly request: TurnRequest;
  readonly runtime: string;
  readonly task: string;
  /** Of turns of this task with the same form of answer, from 1; those that something else ended are not counted. */
  readonly number: number;
}

/** Who plays the agents of a world. */
export type Cast = (cue: Cue) => Part;

interface Process {
  readonly identity: ProcessIdentity;
  readonly cue: Cue;
  readonly part: Part;
  readonly spawnedAt: number;
  /** `held`: its engine has not let it go. */
  state: 'held' | 'running' | 'ended';
  endedBy: 'itself' | 'engine' | 'reboot' | undefined;
  readonly ended: PromiseWithResolvers<void>;
  startedAt: number;
}

/** A turn whose agent ran. */
interface Ran {
  readonly turnId: string;
  readonly result: TurnResult;
  readonly endedBy: Process['endedBy'];
}

export interface SimulatedAgents {
  /** As one engine has it; what it started outlives it. */
  runtime(name: string, clock: Clock, lives: () => boolean): AgentRuntime;
  readonly processes: Processes;
  /** Everything that runs is gone, and says nothing. */
  reboot(): void;
  ran(): readonly Ran[];
  running(): readonly string[];
  /** When turns began, by runtime: `at` is what the wall clock showed. */
  readonly starts: readonly { readonly runtime: string; readonly turnId: string; readonly at: number }[];
}

const LADDER_MS = 1_500;

/** Agents that are nothing but time and an outcome. They live in the world, not in an engine: one that died is attached to. */
export function createSimulatedAgents(
  time: VirtualTime,
  repository: SimulatedRepository,
  cast: Cast,
  seed: number,
): SimulatedAgents {
  const table = new Map<string, Process>();
  const starts: SimulatedAgents['starts'][number][] = [];

  const end = (process: Process, by: NonNullable<Process['endedBy']>): void => {
    if (process.state === 'ended') return;
    const ran = process.state === 'running';
    process.state = 'ended';
    process.endedBy = by;
    const { deed } = process.part;
    if (ran && by === 'itself' && deed !== undefined) repository.work(process.cue.request.workspace.path, deed);
    process.ended.resolve();
  };
  const numberOf = (task: string, request: TurnRequest): number =>
    [...table.values()].filter(
      ({ cue, endedBy }) => endedBy === 'itself' && cue.task === task && formOf(cue.request) === formOf(request),
    ).length + 1;
  const spawn = (runtime: string, request: TurnRequest): Process => {
    const { turnId } = request;
    const task = taskOf(turnId);
    const cue = { request, runtime, task, number: numberOf(task, request) };
    const process: Process = {
      identity: { pid: table.size + 1, startTime: `${time.monotonic()}`, bootId: 'simulated', marker: turnId },
      cue,
      part: cast(cue),
      spawnedAt: time.now(),
      state: 'held',
      endedBy: undefined,
      ended: Promise.withResolvers(),
      startedAt: 0,
    };
    table.set(turnId, process);
    return process;
  };
  const letGo = (process: Process): void => {
    if (process.state !== 'held') throw new Error(`${process.identity.marker} was let go twice`);
    process.state = 'running';
    process.startedAt = time.monotonic();
    starts.push({ runtime: process.cue.runtime, turnId: process.identity.marker, at: time.now() });
    time.after(process.part.ms, () => end(process, 'itself'));
    const { meanwhile } = process.part;
    if (meanwhile === undefined) return;
    time.after(meanwhile.afterMs, () => {
      if (process.state === 'running') meanwhile.act();
    });
  };

  const follow = (process: Process, clock: Clock, lives: () => boolean): Turn => {
    const result = process.ended.promise.then(async () =>
      lives() ? resultOf(process) : await new Promise<never>(() => undefined),
    );
    return {
      result,
      cancel: async () => {
        await clock.sleep(LADDER_MS);
        end(process, 'engine');
        return result;
      },
      detach: () => Promise.resolve(),
      activity: () => {
        const { toolMs } = process.part;
        const ran = process.state === 'held' ? 0 : time.monotonic() - process.startedAt;
        const used = toolMs !== undefined && ran >= toolMs;
        return {
          lastSignOfLifeAt: process.spawnedAt,
          openTools: 0,
          ...(used ? { firstToolAt: Math.floor(process.spawnedAt + toolMs) } : {}),
        };
      },
    };
  };

  const start = async (
    name: string,
    request: TurnRequest,
    context: TurnContext,
    clock: Clock,
    lives: () => boolean,
  ): Promise<Turn> => {
    // Of its own, so that turns which begin together do so in one order, whichever folder was made first.
    await clock.sleep(5 + 45 * draw(seed, 'spawn', request.turnId));
    const process = spawn(name, request);
    try {
      await context.onSpawned(process.identity, process.spawnedAt);
    } catch (error) {
      end(process, 'engine');
      throw error;
    }
    if (lives()) letGo(process);
    // Its engine died before it said "go".
    else end(process, 'engine');
    return follow(process, clock, lives);
  };

  return {
    runtime: (name, clock, lives) => ({
      portVersion: 1,
      name,
      probe: () => Promise.resolve({ ok: true, login: 'ok', sandbox: 'none', problems: [] }),
      start: (request, context) => later(start(name, request, context, clock, lives), time.now()),
      attach: (request) => {
        const process = table.get(request.turnId);
        if (process === undefined) throw new Error(`${request.turnId} was committed and never spawned`);
        return follow(process, clock, lives);
      },
    }),
    processes: processesOf(table, end),
    reboot: () => {
      for (const process of table.values()) end(process, 'reboot');
    },
    starts,
    ran: () =>
      [...table.values()].flatMap((process) =>
        process.state === 'ended' && process.startedAt > 0
          ? [{ turnId: process.identity.marker, result: resultOf(process), endedBy: process.endedBy }]
          : [],
      ),
    running: () => [...table.values()].flatMap(({ state, identity }) => (state === 'running' ? [identity.marker] : [])),
  };
}

/** The part of the port that an engine over simulated agents comes to. */
function processesOf(table: ReadonlyMap<string, Process>, end: (process: Process, by: 'engine') => void): Processes {
  const never = (): never => {
    throw new Error('a simulated agent has no process');
  };
  return {
    spawnTurn: never,
    isolation: never,
    isAlive: never,
    ageMs: never,
    sinceBoot: never,
    waitForEnding: never,
    tail: never,
    outputBytes: never,
    endTurn: never,
    run: never,
    trimOutput: () => Promise.resolve(0),
    sweep: (marker) => {
      const process = table.get(marker);
      if (process !== undefined) end(process, 'engine');
      return Promise.resolve([]);
    },
  };
}

/** As an adapter would conclude it from what the process left behind. */
function resultOf({ cue, part, state, endedBy, spawnedAt, startedAt }: Process): TurnResult {
  const { request, runtime } = cue;
  const known = { text: '', denials: [], stderrTail: '', startedAt: spawnedAt, durationMs: Math.floor(part.ms) };
  if (startedAt === 0) return { ...known, outcome: 'failed', failure: failure('never-started', false), durationMs: 0 };
  if (endedBy === 'reboot' || state !== 'ended') return { ...known, outcome: 'failed', failure: failure('lost', true) };
  const id = request.session?.id ?? request.turnId;
  const session = { runtime, id, home: '/home', workspace: request.workspace.path, instructionsHash: '' };
  if (endedBy === 'engine') return { ...known, session, outcome: 'cancelled', failure: failure('cancelled', true) };
  return { ...known, session, ...part.result };
}

function failure(kind: 'never-started' | 'lost' | 'cancelled', mayHaveActed: boolean) {
  return { kind, message: `simulated: ${kind}`, mayHaveActed };
}

/** A turn that is there at once, for one that takes time to start. */
function later(starting: Promise<Turn>, bornAt: number): Turn {
  let turn: Turn | undefined;
  const started = starting.then((made) => {
    turn = made;
    return made;
  });
  const result = started.then((made) => made.result);
  // Told to whoever waits for the result; a turn that nobody waits for is one of a dead engine.
  result.catch(() => undefined);
  return {
    result,
    cancel: async (reason) => (await started).cancel(reason),
    detach: () => Promise.resolve(),
    activity: () => turn?.activity() ?? { lastSignOfLifeAt: bornAt, openTools: 0 },
  };
}

/** The plan's name of the task: `<run>.<scope>.<task>-<number>`. */
function taskOf(turnId: string): string {
  return turnId.split('.').slice(2).join('.').replace(/-\d+$/, '');
}

/** Turns of one task are told apart by what they have to answer. */
export function formOf({ outputSchema, outputIsOptional }: TurnRequest): string {
  if (outputIsOptional === true) return '';
  const properties = outputSchema?.['properties'];
  // Any planner may say that it cannot plan.
  const names = Object.keys(asObject(properties)).filter((name) => name !== 'cannot');
  return names.toSorted().join(' ');
}

/** The commit that the prompt says to merge. */
export function conflictIn(prompt: string): string | undefined {
  return [...prompt.matchAll(/ conflicts with ([0-9a-f]{40}) in:/g)].at(-1)?.[1];
}

export function isReview(request: TurnRequest): boolean {
  return formOf(request) === 'approved checks findings settled summary';
}
