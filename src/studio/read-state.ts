import type { RunnableConfig } from '@langchain/core/runnables';
import type { StateSnapshot } from '@langchain/langgraph';
import type { CheckpointListOptions } from '@langchain/langgraph-checkpoint';
import type { CheckpointReader } from '../engine/read-checkpoints.ts';
import type { RunGraph } from '../graph/graph.ts';
import { isSquadError } from '../model/errors.ts';
import type { OpenedWorkspace } from '../squad/open-workspace.ts';
import { gather } from '../text/gather.ts';
import { readStanding, readThread, readWhole, type Thread } from './read-thread.ts';
import { Refusal } from './refusal.ts';
import { plainValue, rebuiltValues, withStanding } from './snapshots.ts';
import { START_INPUT } from './start-input.ts';

export interface StatePorts {
  readonly workspace: OpenedWorkspace;
  readonly graph: RunGraph;
  readonly checkpoints: CheckpointReader;
}

/** Checkpoints of one answer. A client that wants more asks for those before the last. */
const MOST_STATES = 1_000;
const FEW_STATES = 10;
/** Checkpoints that a refusal names. */
const MOST_NAMED = 5;

/** The newest state of the run that the thread shows, or that of the checkpoint that the config names. */
export async function readState(ports: StatePorts, config: RunnableConfig): Promise<StateSnapshot> {
  const { threadId, checkpointId } = placeIn(config);
  const thread = readThread(ports.workspace, threadId);
  if (thread === undefined) return noRun(config);
  const found = await readable(async () => ports.graph.getState(threadConfig(threadId, checkpointId)));
  if ('notice' in found) return rebuilt(ports, thread, found.notice);
  const { snapshot } = found;
  if (snapshot.createdAt === undefined) {
    if (checkpointId !== undefined) throw await unknownCheckpoint(ports, thread, checkpointId);
    return rebuilt(ports, thread, NO_CHECKPOINT);
  }
  const isOld = checkpointId !== undefined && checkpointId !== (await headOf(ports, threadId));
  return isOld ? shown(thread, snapshot) : current(ports, thread, snapshot);
}

/** The states of the thread, newest first, at most a page. */
export async function readHistory(
  ports: StatePorts,
  config: RunnableConfig,
  { limit = FEW_STATES, filter, ...options }: CheckpointListOptions,
): Promise<StateSnapshot[]> {
  const { threadId } = placeIn(config);
  const thread = readThread(ports.workspace, threadId);
  if (thread === undefined) return [];
  const page = {
    ...options,
    limit: Math.min(limit, MOST_STATES),
    ...(filter === undefined ? {} : { filter: plainFilter(filter) }),
  };
  const found = await readable(async () => {
    const states = await gather(ports.graph.getStateHistory(threadConfig(threadId), page));
    return { states, head: await headOf(ports, threadId) };
  });
  if ('notice' in found) return [await rebuilt(ports, thread, found.notice)];
  const { states, head } = found.snapshot;
  if (head === undefined) return [await rebuilt(ports, thread, NO_CHECKPOINT)];
  return Promise.all(
    states.map(async (one) => (checkpointOf(one) === head ? current(ports, thread, one) : shown(thread, one))),
  );
}

/** The newest checkpoint with what only the ledger has: the phase, the questions and the conversation of now. */
async function current(ports: StatePorts, thread: Thread, snapshot: StateSnapshot): Promise<StateSnapshot> {
  const whole = readWhole(ports.workspace, thread);
  if (whole === undefined) return shown(thread, snapshot);
  return shown(thread, withStanding(snapshot, await readStanding(ports.workspace, thread, whole.reading)));
}

/** Makes the state from the ledger alone, for a run whose checkpoints are gone or cannot be read. */
async function rebuilt({ workspace }: StatePorts, thread: Thread, notice: string): Promise<StateSnapshot> {
  const whole = readWhole(workspace, thread);
  const empty = { ...EMPTY, config: threadConfig(thread.run.id) };
  if (whole === undefined) return shown(thread, empty, notice);
  const now = await readStanding(workspace, thread, whole.reading);
  const values = rebuiltValues(whole.reading, whole.inputRef, thread.live, now.view);
  return shown(thread, withStanding({ ...empty, values }, now), notice);
}

function shown({ run, driven, forks }: Thread, snapshot: StateSnapshot, notice?: string): StateSnapshot {
  const squad = {
    ...{ name: run.name, driven },
    ...(run.parent === null ? {} : { parent: { thread_id: run.parent.runId, seq: run.parent.seq } }),
    ...(forks.length === 0 ? {} : { forks: forks.map(forkOf) }),
    ...(notice === undefined ? {} : { notice }),
  };
  return plainValue({ ...snapshot, metadata: { ...UNKNOWN_STEP, ...snapshot.metadata, squad } });
}

function forkOf({ id, name, parent }: Thread['run']): object {
  return { thread_id: id, name, seq: parent?.seq };
}

const UNKNOWN_STEP = { source: 'update', step: -1, parents: {} } as const;
const EMPTY = { values: {}, next: [], tasks: [] };

function noRun(config: RunnableConfig): StateSnapshot {
  const notice = `This thread is no run yet. Start one with the input ${START_INPUT}.`;
  return { ...EMPTY, config, metadata: { ...UNKNOWN_STEP, squad: { notice } } as StateSnapshot['metadata'] & object };
}

interface Located {
  readonly threadId: string;
  readonly checkpointId: string | undefined;
}

/** The thread and the checkpoint that a config of the server names. Throws a refusal for a subgraph: there is none. */
export function placeIn({ configurable = {} }: RunnableConfig): Located {
  const { thread_id, checkpoint_id, checkpoint_ns } = configurable as Readonly<Record<string, unknown>>;
  if (typeof checkpoint_ns === 'string' && checkpoint_ns !== '') {
    throw new Refusal(422, `there is no subgraph ${checkpoint_ns}`, 'Leave `checkpoint_ns` out: squad is one graph.');
  }
  const checkpointId = typeof checkpoint_id === 'string' && checkpoint_id !== '' ? checkpoint_id : undefined;
  return { threadId: String(thread_id).toLowerCase(), checkpointId };
}

export function threadConfig(threadId: string, checkpointId?: string): RunnableConfig {
  const named = checkpointId === undefined ? {} : { checkpoint_id: checkpointId };
  return { configurable: { thread_id: threadId, checkpoint_ns: '', ...named } };
}

function checkpointOf({ config }: StateSnapshot): unknown {
  return config.configurable?.['checkpoint_id'];
}

/** The newest checkpoint; undefined: there is none that can be read. */
export async function headOf({ checkpoints }: StatePorts, threadId: string): Promise<string | undefined> {
  const found = await readable(async () => checkpoints.newerThan(threadId, undefined, 1));
  return 'notice' in found ? undefined : found.snapshot[0];
}

async function unknownCheckpoint({ checkpoints }: StatePorts, { run }: Thread, id: string): Promise<Refusal> {
  const known = await gather(checkpoints.list(threadConfig(run.id), { limit: MOST_NAMED }));
  const named = known.map(({ checkpoint }) => checkpoint.id);
  const next = named.length === 0 ? 'Leave the checkpoint out.' : `The newest are ${named.join(', ')}.`;
  return new Refusal(422, `${run.name} has no checkpoint ${id}`, next, { checkpoints: named });
}

/** Keys become a path of JSON in SQL. */
function plainFilter(filter: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const wrong = Object.keys(filter).find((key) => !/^\w+$/.test(key));
  if (wrong === undefined) return filter;
  throw new Refusal(422, `there is no metadata called ${wrong}`, 'Use `source`, `step` or `parents`.');
}

const AS_LEDGER = 'The state is shown as the ledger has it.';
const NO_CHECKPOINT = `There is no checkpoint of this run in checkpoints.db. ${AS_LEDGER}`;
const UNREADABLE: ReadonlySet<string> = new Set([
  'database-corrupt',
  'schema-newer',
  'schema-older',
  'storage-refused',
]);

/** `notice`: why the checkpoints cannot be read. Rethrows any other error. */
async function readable<T>(work: () => Promise<T>): Promise<{ readonly snapshot: T } | { readonly notice: string }> {
  try {
    return { snapshot: await work() };
  } catch (error) {
    if (!isSquadError(error) || !UNREADABLE.has(error.code)) throw error;
    return { notice: `${error.message} ${AS_LEDGER} ${error.next ?? ''}`.trim() };
  }
}

/** Returns `otherwise` if the checkpoints cannot be read. */
export async function withoutCheckpoints<T>(work: () => Promise<T>, otherwise: T): Promise<T> {
  const found = await readable(work);
  return 'notice' in found ? otherwise : found.snapshot;
}
