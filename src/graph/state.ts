import { ReducedValue, StateSchema } from '@langchain/langgraph';
import { z } from 'zod';

/** Entries that are null delete. */
const inflightUpdateSchema = z.record(z.string(), z.string().nullable());
type Inflight = Record<string, string>;

function mergeInflight(current: Inflight, update: Record<string, string | null>): Inflight {
  const merged: Record<string, string | null> = { ...current, ...update };
  return Object.fromEntries(Object.entries(merged).filter((entry): entry is [string, string] => entry[1] !== null));
}

export const PHASES = ['new', 'running', 'waiting', 'stopped', 'finished'] as const;

/**
 * All that a checkpoint pauses: a cursor into the ledger and what people want to see, O(parallelism). What happened is in
 * the ledger; no answer of an agent is ever stored here.
 */
export const SquadState = new StateSchema({
  runId: z.string(),
  /** The event that holds what the run was started with. */
  inputRef: z.number().int(),
  options: z.object({ parallel: z.number().int() }),
  /** The only truth about "finished". */
  phase: z.enum(PHASES).default('new'),
  /** Inputs up to here have been decided on. */
  cursor: z.number().int().default(0),
  /** Ledger id of each live attempt → its task. */
  inflight: new ReducedValue(
    z.record(z.string(), z.string()).default(() => ({})),
    { inputSchema: inflightUpdateSchema, reducer: mergeInflight },
  ),
  /** Attempts claimed by the last decision. */
  starts: z.array(z.string()).default(() => []),
  /** Inputs that `collect` brought and nobody has decided on. */
  batch: z.array(z.number().int()).default(() => []),
  counts: z
    .object({ tasks: z.number(), ended: z.number(), live: z.number(), turns: z.number() })
    .default(() => ({ tasks: 0, ended: 0, live: 0, turns: 0 })),
  /** "task: status", for people, 200 at most: of a large plan only what has not ended. */
  board: z.array(z.string()).default(() => []),
  questions: z.array(z.object({ id: z.string(), text: z.string() })).default(() => []),
  result: z
    .object({ outcome: z.enum(['done', 'failed', 'stopped']), why: z.string() })
    .nullable()
    .default(null),
});

export type SquadStateValue = typeof SquadState.State;
export type SquadStateUpdate = typeof SquadState.Update;
