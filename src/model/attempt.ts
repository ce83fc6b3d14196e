import type { ProcessIdentity } from './process-identity.ts';
import type { TurnResult } from './turn-result.ts';

/** One try by one agent at one task: claimed → spawned → settled, each once. */
export interface Attempt {
  /** `<task>-<number>` within its run, made globally unique by the run: `<run>/<task>/<number>` is never needed. */
  readonly id: string;
  readonly runId: string;
  readonly taskId: string;
  /** From 1. */
  readonly number: number;
  readonly kind: 'turn' | 'check';
  readonly agent: string;
  readonly runtime: string;
  /** Lease epoch that claimed it. */
  readonly epoch: number;
  /** One live attempt per session, by unique index. */
  readonly sessionKey: string | null;
  /** What to do, as stored JSON text (a TurnRequest for turns). */
  readonly request: string;
  readonly claimedAt: number;
  readonly process: ProcessIdentity | null;
  readonly spawnedAt: number | null;
  readonly status: 'claimed' | 'spawned' | 'settled';
}

/** The one row that ends an attempt. */
export interface Settlement {
  readonly attemptId: string;
  readonly seq: number;
  readonly at: number;
  readonly epoch: number;
  readonly result: TurnResult;
}
