import type { Attempt, Settlement } from '../../model/attempt.ts';
import type { SharedCap, SharedUse } from '../../model/shared-spending.ts';
import type { CapName, Caps, Spending } from '../../model/spending.ts';
import type { Json } from '../../text/json.ts';
import type { LedgerEvent } from '../../model/ledger-event.ts';
import type { ProcessIdentity } from '../../model/process-identity.ts';
import type { TurnResult } from '../../model/turn-result.ts';
import type { Forked } from '../../model/run.ts';
import type { Lease } from './lease.ts';
import type { EngineMail, Mailbox } from './mailbox.ts';
import type { Records } from './records.ts';

export type { Lease } from './lease.ts';

export interface RunRow {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  /** Input events up to here have been decided on. */
  readonly applied: number;
  readonly driver: string | null;
  /** The run that it is a fork of, and the input up to which it took that run's decisions; null: it is no fork. */
  readonly parent: { readonly runId: string; readonly seq: number } | null;
}

/** A run that begins with what another one had decided. */
export interface NewFork {
  readonly id: string;
  readonly name: string;
  readonly definition: Json;
  readonly forked: Forked;
  /** The parent's events that are no decisions, oldest first. They count as decided on. */
  readonly facts: readonly Pick<LedgerEvent, 'type' | 'data' | 'at'>[];
  /** The parent's decisions, then those of the fork itself. */
  readonly decisions: readonly Exclude<Decision, { readonly do: 'claim-attempt' | 'hand-mail' }>[];
  /** The run's first inputs. */
  readonly inputs: readonly Pick<LedgerEvent, 'type' | 'data'>[];
}

/** A moment by the clock of a machine that runs: comparable with others of the same boot. */
export interface BootMoment {
  readonly boot: string;
  readonly ms: number;
}

/** The part of a run under one lease. A crash leaves `releasedAt` null. */
export interface LeaseSegment {
  readonly epoch: number;
  readonly holder: string;
  readonly acquiredAt: number;
  /** ms that the holder has worked, recorded every two seconds and at its end, and its agents before it without an engine. */
  readonly workedMs: number;
  /** When that was recorded; null: in no way that another process can compare. */
  readonly seen: BootMoment | null;
  readonly releasedAt: number | null;
}

export interface NewAttempt extends Pick<Attempt, 'id' | 'taskId' | 'kind' | 'agent' | 'runtime' | 'request'> {
  readonly sessionKey?: string;
}

/**
 * Caps for a claim; absent: no cap. Checks count for none. Running turns may still pass a cap on tokens, money or time. The engine
 * checks its own time.
 */
export interface RunLimits extends Omit<Caps, 'minutes'> {
  /** Limits of the claiming agent over all its turns in the run. */
  readonly agent?: Caps;
  /** Limits of the task over all its turns, including reviews. */
  readonly task?: Caps;
}

export type Decision =
  /** `at`: when another run decided it (epoch ms); absent: now. */
  | { readonly do: 'record'; readonly type: string; readonly data: Json; readonly at?: number }
  | { readonly do: 'claim-attempt'; readonly attempt: NewAttempt; readonly limits: RunLimits }
  | { readonly do: 'set-timer'; readonly id: string; readonly dueAt: number; readonly data: Json }
  /** Sends in a member's name, once for each key of the run. A refused message is recorded as `mail-refused`. */
  | { readonly do: 'send-mail'; readonly key: string; readonly mail: EngineMail }
  /** The new value of something that outlives runs. Nothing is written if it has that. */
  | { readonly do: 'write-record'; readonly kind: string; readonly id: string; readonly value: Json }
  /** The addresses that could receive mail from now on. See `Mailbox.receivers`. */
  | { readonly do: 'set-receivers'; readonly able: readonly string[] }
  /** These messages are in that turn's prompt, and leased to it until it ends. One that was read meanwhile stays read. */
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
   * The input event decided on: the new `run.applied` and the cause of every decision. An event without a cause, of this run or the
   * workspace. Greater than `cursor`, which includes the inputs in between, or once equal to it.
   */
  readonly seq: number;
  /** Checkpoint id. The run's last driver gets the stored answer to a repeated step. Another cursor: `cursor-refused`. */
  readonly driver: string;
  readonly decisions: readonly Decision[];
}

/** With the level of the cap, where it is not the run's. */
export type ClaimRefusal =
  | Exclude<CapName, 'minutes'>
  | `agent-${CapName}`
  | `task-${CapName}`
  | SharedCap
  | 'session-busy'
  | 'duplicate';

export type ClaimAnswer =
  | { readonly claimed: true; readonly attemptId: string; readonly number: number }
  | { readonly claimed: false; readonly attemptId: string; readonly reason: ClaimRefusal };

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

/** Turns, without those that never started. `unknownUsage` and `unknownCost`: settled turns with unknown tokens or cost. */
export interface Totals {
  readonly turnsClaimed: number;
  readonly turnsSettled: number;
  readonly turnsLost: number;
  readonly turnsLive: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
  readonly unknownUsage: number;
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
  readonly seq: number;
}

export type AttemptFilter = Partial<Pick<Attempt, 'runId' | 'taskId' | 'status'>>;

/** The record of all runs. Each method is synchronous and one transaction. Refusals throw SquadError. */
/** Where the file of an open ledger is: `replaced` by another one, `moved` to another path, or `deleted`, so that only this process has it. */
export type LedgerPlace = 'there' | 'replaced' | 'moved' | 'deleted';

export interface Ledger extends Records {
  /**
   * With its `run-created` event. The same id and name again is a crash retry and returns the row that is there. A function chooses the
   * name, by those that are taken at that moment; the same id again returns the row that is there.
   */
  createRun(run: { id: string; name: string | ((taken: readonly string[]) => string) }): RunRow;
  /** Records what a run is that no engine has yet. False: that is known, and stays as it is. */
  submit(run: { id: string; definition: Json }): boolean;
  /** Copies into a new run what its parent had decided, all in one transaction. The parent's rows stay as they are. */
  fork(fork: NewFork): RunRow;
  run(idOrName: string): RunRow | undefined;
  runs(): readonly RunRow[];
  /** Fences the former holder. Throws `workspace-busy` unless the ledger was opened with a workspace lock that is still held. */
  acquireLease(runId: string, holder: string): Lease;
  /** Records how long the holder has worked, and when that is. Throws `lease-fenced` if it is no longer the holder. */
  renewLease(lease: Lease, workedMs: number, seen?: BootMoment): void;
  /** Does nothing for a lease that is no longer current. */
  releaseLease(lease: Lease, workedMs?: number): void;
  /** Oldest first. `workedMs` of all of them together is the run's engine time. */
  segments(runId: string): readonly LeaseSegment[];
  apply(input: ApplyInput): ApplyAnswer;
  /** Records a fact once per (attempt, type). False: it was there, or the attempt is settled. */
  observe(lease: Lease, attemptId: string, type: string, data: Json): boolean;
  /** Throws `unknown-attempt` if the attempt has another process or is settled: this process must not start. */
  markSpawned(lease: Lease, attemptId: string, process: ProcessIdentity, at: number): void;
  /**
   * Writes the outcome, the usage and the event. The turn's mail takes effect if it completed; otherwise it is void and the messages
   * in its prompt wait again. Throws `lease-fenced` if another engine took over. Records a different later result once.
   */
  settle(lease: Lease, attemptId: string, result: TurnResult): SettleAnswer;
  attempt(id: string): Attempt | undefined;
  attempts(where: AttemptFilter): readonly Attempt[];
  /** In claim order. Reads no request. */
  attemptStates(runId: string): readonly Pick<Attempt, 'id' | 'status'>[];
  settlement(attemptId: string): Settlement | undefined;
  totals(runId: string): Totals;
  /** The use that counts against caps. `until`: as it was at that event; later calls must not ask for an earlier one. */
  spending(runId: string, until?: number): Spending;
  /** The use of all runs together; undefined: nothing limits it. `engineSince`: since when an engine has the workspace. */
  sharedUse(engineSince: number): SharedUse | undefined;
  /** In seq order. `types`: only these. */
  events(where: { stream?: string; after?: number; limit?: number; types?: readonly string[] }): readonly LedgerEvent[];
  /** The newest event of a stream among these types. */
  newest(stream: string, types: readonly string[]): LedgerEvent | undefined;
  /** All that `work` reads is of one moment. Many reads take less time so. */
  snapshot<T>(work: () => T): T;
  /** All that `work` reads and writes is one transaction: no other process writes in between. If it throws, nothing was written. */
  transact<T>(work: () => T): T;
  /** `stream`: only events of this one. 0: there is no event. */
  lastSeq(stream?: string): number;
  /** Appends an input from outside a lease (an operator, mail): its stream, no cause. Returns its seq. */
  append(stream: string, type: string, data: Json): number;
  /**
   * Appends inputs that the run's driver observed: no cause, the lease's epoch. Those of one call are in one transaction and have
   * consecutive seqs. Returns the seq of the first.
   */
  note(lease: Lease, type: string, data: Json, ...more: readonly Json[]): number;
  /** Claims an attempt of kind `check` outside a step and its caps. An existing attempt stays as it is. */
  claimCheck(lease: Lease, attempt: NewAttempt): void;
  /** `key`: a command that has the key of another one of the run is that one, and is not stored again. */
  command(runId: string, verb: string, data: Json, by: string, key?: string): OperatorCommand;
  dueTimers(now: number): readonly Timer[];
  /** Records a due timer's event and clears the timer. undefined: the timer is not set or not due. */
  fireTimer(lease: Lease, id: string): number | undefined;
  /** Changes when another connection has committed. */
  dataVersion(): number;
  /** The router of messages, in the same file. */
  readonly mail: Mailbox;
  place(): LedgerPlace;
  /** Writes all that it holds to its path again, after it was deleted; next to a file that is there by now. Returns the path. */
  writeBack(): string;
  close(): void;
}
