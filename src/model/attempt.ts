import type { ProcessIdentity } from './process-identity.ts';
import type { TurnResult } from './turn-result.ts';

/** One try by one agent at one task: claimed → spawned → settled, each once. */
export interface Attempt {
  /** Unique in the ledger. The plan calls it `<task>-<number>`. */
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
  /** JSON text; of a turn an `AttemptOrder`. */
  readonly request: string;
  readonly claimedAt: number;
  readonly process: ProcessIdentity | null;
  readonly spawnedAt: number | null;
  readonly status: 'claimed' | 'spawned' | 'settled';
}

export interface Settlement {
  readonly attemptId: string;
  readonly seq: number;
  readonly at: number;
  readonly epoch: number;
  readonly result: TurnResult;
}
