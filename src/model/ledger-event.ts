import type { Json } from '../text/json.ts';

/** One row of the ledger. `seq` has no gaps over the whole file and defines the order; no clock does. */
export interface LedgerEvent {
  readonly seq: number;
  /** A run's id, or `workspace` for events that belong to no run. */
  readonly stream: string;
  readonly type: string;
  /** Epoch ms, for people. */
  readonly at: number;
  /** The input that the engine decided on; null for inputs themselves (settlements, mail, commands, timers). */
  readonly cause: number | null;
  /** Lease epoch of the engine that wrote it; null if it needs none (an operator's command, mail). */
  readonly epoch: number | null;
  readonly data: Json;
}

export const WORKSPACE_STREAM = 'workspace';
