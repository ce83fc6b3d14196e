import { ReducedValue, StateSchema } from '@langchain/langgraph';
import { z } from 'zod';
import { RUN_ENDS } from '../model/run-state.ts';

/** null deletes an entry. */
const inflightUpdateSchema = z.record(z.string(), z.string().nullable());
type Inflight = Record<string, string>;

function mergeInflight(current: Inflight, update: Record<string, string | null>): Inflight {
  const merged: Inflight = {};
  for (const [attempt, task] of Object.entries({ ...current, ...update })) if (task !== null) merged[attempt] = task;
  return merged;
}

const PHASES = ['new', 'running', 'waiting', 'stopped', 'finished'] as const;

/** A checkpoint: a cursor into the ledger and a summary for people, O(parallelism). Agents' answers are only in the ledger. */
export const SquadState = new StateSchema({
  runId: z.string(),
  /** The event with the run's definition. */
  inputRef: z.number().int(),
  options: z.object({ parallel: z.number().int() }),
  /** The only source for whether the run has finished. */
  phase: z.enum(PHASES).default('new'),
  /** All inputs up to here are applied. */
  cursor: z.number().int().default(0),
  /** Ledger id of each live attempt → its task. */
  inflight: new ReducedValue(
    z.record(z.string(), z.string()).default(() => ({})),
    { inputSchema: inflightUpdateSchema, reducer: mergeInflight },
  ),
  /** Attempts that the last decision claimed. */
  starts: z.array(z.string()).default(() => []),
  /** Inputs from `collect` that are not applied yet. */
  batch: z.array(z.number().int()).default(() => []),
  counts: z
    .object({ tasks: z.number(), ended: z.number(), live: z.number(), turns: z.number() })
    .default(() => ({ tasks: 0, ended: 0, live: 0, turns: 0 })),
  /** Lines "task: status" for people, at most 200. A large plan shows only tasks that have not ended. */
  board: z.array(z.string()).default(() => []),
  questions: z.array(z.object({ id: z.string(), text: z.string() })).default(() => []),
  result: z
    .object({ outcome: z.enum([...RUN_ENDS, 'stopped']), why: z.string() })
    .nullable()
    .default(null),
});

export type SquadStateValue = typeof SquadState.State;
export type SquadStateUpdate = typeof SquadState.Update;
