import { sha256Of } from '../model/sha256.ts';
import type { RunSummary } from '../view/run-summary.ts';
import type { SquadRequest } from './squad-request.ts';

/** Where a graph calls for a run, as LangGraph reports it to a node. */
export interface CallPlace {
  /** undefined: nothing of the graph is kept, so that each call is a new run. */
  readonly threadId: string | undefined;
  /** `node:task|node:task`: each node on the way down, with the id of its task. The last one is the node that asks. */
  readonly checkpointNs: string;
  /** Where a model calls for it as a tool: an id that is the model's own and stays the same however often the call is tried. */
  readonly toolCallId?: string | undefined;
}

/** The ids of runs, first as LangGraph knows the call: a task that it starts again keeps its id, and a later visit has another. */
export interface RunIdentity {
  readonly runId: string;
  /** The begin that all runs of this request, thread and node have in common. */
  readonly family: string;
}

/**
 * The id has two parts: the family, and the task. A graph that lost its own records in a crash, or that is called with its input
 * instead of being resumed, starts another task; the family then finds the run that was cut short.
 */
export function identityOf(
  { threadId, checkpointNs, toolCallId }: CallPlace,
  request: SquadRequest,
): RunIdentity | undefined {
  if (threadId === undefined && toolCallId === undefined) return undefined;
  const path = checkpointNs.split('|');
  const nodes = path.map((part) => part.split(':')[0]);
  // As a part of a parent, the graph begins anew with each task of the parent, whose id is the last but one.
  const above = path.slice(0, -1);
  const task = above.some((part) => part.includes(':')) ? above : path;
  const where = threadId ?? { toolCallId };
  const common = digest(['squad-family', where, nodes, sorted(request)]);
  const own = digest(['squad-task', where, toolCallId ?? task]);
  const family = `${common.slice(0, 8)}-${common.slice(8, 12)}-8${common.slice(12, 15)}-8`;
  return { family, runId: `${family}${own.slice(0, 3)}-${own.slice(3, 15)}` };
}

/** The run that this call is about: its own, else one of its family that was cut short, else a new one with its own id. */
export function chooseRunId(
  { runId, family }: RunIdentity,
  runs: readonly Pick<RunSummary, 'runId' | 'need'>[],
): string {
  if (runs.some((run) => run.runId === runId)) return runId;
  return runs.find((run) => run.need !== null && run.runId.startsWith(family))?.runId ?? runId;
}

function digest(value: unknown): string {
  return sha256Of(JSON.stringify(value));
}

/** The order in which a checkpoint keeps fields does not matter. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, one]) => [key, sorted(one)]);
}
