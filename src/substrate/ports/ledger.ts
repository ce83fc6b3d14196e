import type { Attempt, Settlement } from '../../model/attempt.ts';
import type { CapName, Caps, Spending } from '../../model/spending.ts';
import type { Json } from '../../text/json.ts';
import type { LedgerEvent } from '../../model/ledger-event.ts';
import type { ProcessIdentity } from '../../model/process-identity.ts';
import type { TurnResult } from '../../model/turn-result.ts';
import type { Usage } from '../../model/usage.ts';
import type { Lease } from './lease.ts';
import type { EngineMail, Mailbox } from './mailbox.ts';

export type { Lease } from './lease.ts';

export interface RunRow {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  /** Input events up to here have been decided on. */
  readonly applied: number;
  /** The checkpoint id that drove the last `apply`. */
  readonly driver: string | null;
}

/** One stretch of a run under one holder. A crash leaves `releasedAt` null. */
export interface LeaseSegment {
  readonly epoch: number;
  readonly holder: string;
  readonly acquiredAt: number;
  /** ms that the holder has worked, as it said last: every two seconds, and at its end. */
  readonly workedMs: number;
  readonly releasedAt: number | null;
}

export interface NewAttempt {
  readonly id: string;
  readonly taskId: string;
  readonly kind: 'turn' | 'check';
  readonly agent: string;
  readonly runtime: string;
  readonly sessionKey?: string;
  /** JSON text. */
  readonly request: string;
}

/**
 * Caps that a claim is held to. Absent: no cap. Derived from the ledger at every claim, so a crash cannot re-arm them.
 * Attempts of kind `check` neither count nor cost. A cap refuses the claim that would pass it; turns that already run may
 * still pass a cap on tokens, money or time. Engine time is not the ledger's to judge.
 */
export interface RunLimits extends Omit<Caps, 'minutes'> {
  /** Of the agent that claims, over all its turns in the run. */
  readonly agent?: Caps;
  /** Of the task that is claimed for, over all turns for it: reviews too. */
  readonly task?: Caps;
}

/** One thing that an engine decided. */
export type Decision =
  | { readonly do: 'record'; readonly type: string; readonly data: Json }
  | { readonly do: 'claim-attempt'; readonly attempt: NewAttempt; readonly limits: RunLimits }
  | { readonly do: 'set-timer'; readonly id: string; readonly dueAt: number; readonly data: Json }
  | { readonly do: 'clear-timer'; readonly id: string }
  /**
   * Sends in the name of a member, once for each key of the run. What the protocol refuses is on record as `mail-refused`,
   * and the step goes on.
   */
  | { readonly do: 'send-mail'; readonly key: string; readonly mail: EngineMail }
  /** These letters are in that turn's prompt: nobody else gets them before it ends. What was read meanwhile stays read. */
  | {
      readonly do: 'hand-mail';
      readonly attemptId: string;
      readonly mail: readonly { readonly id: string; readonly recipient: string }[];
    };

export interface ApplyInput {
  readonly lease: Lease;
  /** `run.applied` as the driver's state knows it. */
  readonly cursor: number;
  /**
   * The input event decided on: becomes the new `run.applied` and the cause of every decision. An event without a cause,
   * of this run's stream or the workspace's. Greater than `cursor` (inputs in between count as decided on with it), or
   * equal to it to decide more on the same input, which can be done once.
   */
  readonly seq: number;
  /**
   * Checkpoint id. The same driver at the same (cursor, seq) is a crash retry and gets the stored answer, as long as it is
   * the run's last driver; any other cursor than `run.applied` is refused with `cursor-refused`.
   */
  readonly driver: string;
  readonly decisions: readonly Decision[];
}

/** With the level of the cap, where it is not the run's. */
export type ClaimRefusal =
  | Exclude<CapName, 'minutes'>
  | `agent-${CapName}`
  | `task-${CapName}`
  | 'session-busy'
  | 'duplicate';

export type ClaimAnswer =
  | { readonly claimed: true; readonly attemptId: string; readonly number: number }
  | {
      readonly claimed: false;
      readonly attemptId: string;
      readonly reason: ClaimRefusal;
    };

export interface ApplyAnswer {
  readonly applied: number;
  readonly claims: readonly ClaimAnswer[];
  /** The answer was given before: this was a retry after a crash. */
  readonly repeated: boolean;
}

export type SettleAnswer =
  | { readonly settled: true; readonly seq: number }
  /** It was settled before. `lateRecorded`: this result differs; it is on record, once, and not applied. */
  | { readonly settled: false; readonly reason: 'already'; readonly lateRecorded: boolean };

/** Of attempts of kind `turn`; one that is settled as `never-started` is no longer counted anywhere. */
export interface Totals {
  readonly turnsClaimed: number;
  readonly turnsSettled: number;
  readonly turnsLost: number;
  readonly turnsLive: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
  /** Settled turns whose tokens nobody knows. */
  readonly unknownUsage: number;
  /** Settled turns whose cost nobody knows. */
  readonly unknownCost: number;
}

export interface Timer {
  readonly runId: string;
  readonly id: string;
  readonly dueAt: number;
  readonly data: Json;
}

export interface OperatorCommand {
  readonly id: number;
  readonly runId: string;
  readonly verb: string;
  readonly data: Json;
  readonly by: string;
  readonly at: number;
  /** Its event, appended with the row. */
  readonly seq: number;
}

/** The only truth about what happened. All methods are synchronous: one transaction each. Refusals throw SquadError. */
export interface Ledger {
  /** With its `run-created` event. The same id and name again is a crash retry and returns the row that is there. */
  createRun(run: { id: string; name: string }): RunRow;
  run(idOrName: string): RunRow | undefined;
  runs(): readonly RunRow[];
  /**
   * New epoch for this run, with its `lease-acquired` event. The former holder is fenced from now on. Throws
   * `workspace-busy` unless the ledger was opened with the workspace lock and the lock is still held.
   */
  acquireLease(runId: string, holder: string): Lease;
  /** Says the holder lives; throws `lease-fenced` when it is no longer the holder. */
  renewLease(lease: Lease, workedMs: number): void;
  /** Does nothing for a lease that is no longer current. */
  releaseLease(lease: Lease, workedMs?: number): void;
  /** Oldest first. `workedMs` of all of them together is the run's engine time. */
  segments(runId: string): readonly LeaseSegment[];
  apply(input: ApplyInput): ApplyAnswer;
  /**
   * A fact that is not a decision (session announced, first tool), once per (attempt, type); its event's data is
   * `{attemptId, taskId, fact}`. False: it was there, or the attempt is settled and facts come too late.
   */
  observe(lease: Lease, attemptId: string, type: string, data: Json): boolean;
  /**
   * Commits the identity of a claimed attempt's process. The same identity again changes nothing; an attempt that has
   * another process or is settled throws `unknown-attempt`: its process must not be let go.
   */
  markSpawned(lease: Lease, attemptId: string, process: ProcessIdentity, at: number): void;
  /**
   * One transaction: the outcome, its usage and the `attempt-settled` event. Throws `lease-fenced` when another
   * engine took over; what comes after the attempt's end is then on record, once, as a `late-result` event without an
   * epoch, and not applied. Mail that the turn sent takes effect when it completed, and is void otherwise; letters that it was
   * handed are read, or wait again.
   */
  settle(lease: Lease, attemptId: string, result: TurnResult): SettleAnswer;
  attempt(id: string): Attempt | undefined;
  attempts(where: { runId?: string; taskId?: string; status?: Attempt['status'] }): readonly Attempt[];
  settlement(attemptId: string): Settlement | undefined;
  totals(runId: string): Totals;
  /** What counts against caps. */
  spending(runId: string): Spending;
  /** undefined: not settled, or nobody knows. */
  usage(attemptId: string): Usage | undefined;
  /** In seq order. */
  events(where: { stream?: string; after?: number; limit?: number }): readonly LedgerEvent[];
  lastSeq(): number;
  /** Appends an input from outside a lease (an operator, mail): its stream, no cause. Returns its seq. */
  append(stream: string, type: string, data: Json): number;
  /** Appends an input that the run's driver found out itself: no cause, the lease's epoch. Returns its seq. */
  note(lease: Lease, type: string, data: Json): number;
  /**
   * Claims an attempt of kind `check` outside a step: which commands run follows from the plan, and they count against no
   * cap. An attempt that is there already is left as it is.
   */
  claimCheck(lease: Lease, attempt: NewAttempt): void;
  command(runId: string, verb: string, data: Json, by: string): OperatorCommand;
  dueTimers(now: number): readonly Timer[];
  /** Turns a due timer into its event and clears it, once. undefined: it is not there (any more), or not due. */
  fireTimer(lease: Lease, id: string): number | undefined;
  /** Changes when another connection has committed. */
  dataVersion(): number;
  /** The router of messages, in the same file. */
  readonly mail: Mailbox;
  close(): void;
}
