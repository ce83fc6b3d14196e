import { attemptId, attemptScope } from '../model/attempt-id.ts';
import type { Json } from '../text/json.ts';
import type { PublishFacts, RunDefinition } from '../model/run.ts';
import type { Limits } from '../model/limits.ts';
import type { Playbook } from '../model/plan.ts';
import type { Board } from '../model/plan/board.ts';
import type { TurnActivity } from '../runtimes/port/agent-runtime.ts';
import type { Clock } from '../substrate/ports/clock.ts';
import type { Lease, Ledger } from '../substrate/ports/ledger.ts';

/** Carries claimed attempts to their settlement, whoever started them. */
export interface Attempts {
  /** Starts, adopts or settles; idempotent by the attempt's id, and returns at once. */
  ensure(attemptId: string): void;
  cancel(attemptId: string, reason: string): Promise<void>;
  /** undefined: not live here. */
  activity(attemptId: string): TurnActivity | undefined;
}

/** What the engine itself does about tasks: evidence, integration, verification. Every result is an input in the ledger. */
export interface Operations {
  /**
   * Starts what the board's phases ask for and nobody is at already; idempotent, and returns at once. The board is of
   * inputs up to `cursor`: an operation whose result came after that is not begun again.
   */
  ensure(board: Board, cursor: number): void;
}

export interface Publisher {
  /** What each agent is bound to, as hashes. */
  armory(): Json;
  /** The run branch and git's baseline; idempotent. */
  allocate(): Promise<void>;
  /** Tidies up, and brings the branch to where it was wanted; idempotent. */
  publish(board: Board): Promise<PublishFacts>;
}

/** Everything that the nodes do, they do through these. They reach the graph by its closure, never by its state. */
export interface GraphPorts {
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly lease: Lease;
  /** What the run was started with. The plan is folded over it, so it never changes. */
  readonly definition: RunDefinition;
  /** Of the run as it is now: a resume may have raised some. */
  readonly limits: Limits;
  readonly playbook: Playbook<unknown>;
  /** It ends instead of waiting for a moment further away than this (ms); null: it waits however long it takes. */
  readonly patienceMs: number | null;
  readonly attempts: Attempts;
  readonly operations: Operations;
  readonly publisher: Publisher;
  readonly wakeSignal: WakeSignal;
  readonly workClock: WorkClock;
  readonly control: RunSwitch;
  /** A step is in the ledger. `board`: the plan as it stands now. */
  onApplied(board: Board): void;
}

/** Id in the ledger of an attempt of this run's plan. */
export function planAttemptId(
  { definition, lease }: Pick<GraphPorts, 'definition' | 'lease'>,
  attempt: string,
): string {
  return attemptId(attemptScope(definition.name, lease.runId), attempt);
}

/** Says "look again" to whoever waits for the ledger. */
export interface WakeSignal {
  raise(): void;
  /** Resolves with true at the next ring, at once if it rang since the last wait; with false after `ms`. */
  wait(ms: number): Promise<boolean>;
}

/** Time that engines have worked on the run. It stands still while nothing lives and nothing can before an input. */
export interface WorkClock {
  /** ms over all segments. */
  totalMs(): number;
  suspend(): void;
  resume(): void;
}

/** What the engine's host wants of a run under way. */
export interface RunSwitch {
  /** Start nothing new; end once nothing lives. */
  draining(): boolean;
  /** A broken machine: the segment ends with it. */
  broken(): unknown;
  /** An operator's `stop`, given while this segment runs. */
  stop(command: { seq: number; by: string }): void;
}
