import type { Json } from '../text/json.ts';

/** One row of the append-only truth. `seq` has no gaps over the whole file; order is `seq`, never a clock. */
export interface LedgerEvent {
  readonly seq: number;
  /** A run's id, or `workspace` for what outlives runs. */
  readonly stream: string;
  readonly type: string;
  /** Epoch ms, for people. */
  readonly at: number;
  /** The input event that made the engine decide this; null for inputs (settlements, mail, commands, timers). */
  readonly cause: number | null;
  /** Lease epoch of the engine that wrote it; null where none was needed (an operator, a mail). */
  readonly epoch: number | null;
  readonly data: Json;
}

export const WORKSPACE_STREAM = 'workspace';
