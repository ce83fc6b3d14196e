import { attemptId, attemptScope } from '../model/attempt-id.ts';
import type { Json } from '../text/json.ts';
import type { PublishFacts, RunDefinition } from '../model/run.ts';
import type { Limits } from '../model/limits.ts';
import type { Playbook } from '../model/plan.ts';
import type { Board } from '../model/plan/board.ts';
import type { Cited } from '../model/plan/review.ts';
import type { LookUps } from '../model/plan/judge-evidence.ts';
import type { NamedEvidence } from '../rules/judge-evidence.ts';
import type { CitedFiles } from '../rules/findings.ts';
import type { TurnActivity } from '../runtimes/port/agent-runtime.ts';
import type { Clock } from '../substrate/ports/clock.ts';
import type { Lease, Ledger } from '../substrate/ports/ledger.ts';
import type { TurnLine } from './turn-line.ts';

/** Drives claimed attempts to their settlement. */
interface Attempts {
  /** Starts, adopts or settles an attempt and returns at once. Idempotent. */
  ensure(attemptId: string): void;
  cancel(attemptId: string, reason: string): Promise<void>;
  /** undefined: not live in this engine. */
  activity(attemptId: string): TurnActivity | undefined;
}

/** Work of the engine itself: evidence, integration, verification. Every result is an input in the ledger. */
interface Operations {
  /**
   * Starts what the board's phases ask for and is not running, and returns at once. Idempotent. The board has inputs up to
   * `cursor`, so an operation with a later result is not started again.
   */
  ensure(board: Board, cursor: number): void;
  /** Looks up the files that the findings of a review name. What cannot be looked up is left out. */
  cite(files: CitedFiles): Promise<Cited>;
  /** Looks up the evidence of a judge, in the answer of this attempt. What cannot be looked up is left out. */
  lookUp(named: NamedEvidence, attempt: string): Promise<LookUps>;
}

interface Publisher {
  /** Hashes of what each agent is bound to. */
  armory(): Json;
  /** Makes the run branch. Idempotent. */
  allocate(): Promise<void>;
  /** Tidies up and publishes the branch. Idempotent. */
  publish(board: Board): Promise<PublishFacts>;
}

/** Everything that the nodes use. They get it by closure, because checkpoints must not contain it. */
export interface GraphPorts {
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly lease: Lease;
  /** The definition that the run started with. It never changes, because the plan is folded over it. */
  readonly definition: RunDefinition;
  /** The current limits: a resume may have raised some. */
  readonly limits: Limits;
  readonly playbook: Playbook<unknown>;
  /** The engine ends instead of waiting longer than this (ms); null: it always waits. */
  readonly patienceMs: number | null;
  /** A person answers questions now: the engine waits for the answers instead of ending. */
  attended(): boolean;
  readonly attempts: Attempts;
  readonly operations: Operations;
  readonly publisher: Publisher;
  readonly wakeSignal: WakeSignal;
  readonly workClock: WorkClock;
  /** Where the run waits for a turn that other runs have. */
  readonly turnLine: TurnLine;
  readonly control: RunSwitch;
  /** Called when a step is in the ledger. */
  onApplied(board: Board): void;
  /** Hears of each node that has run. Absent: no one asked for traces. */
  readonly tracer?: { node(run: NodeRun): void } | undefined;
}

/** One run of a node. Times in epoch ms. */
export interface NodeRun {
  readonly node: string;
  /** The superstep. */
  readonly step: number;
  /** Inputs up to here had been decided on. */
  readonly cursor: number;
  readonly startedAt: number;
  readonly endedAt: number;
  /** The name of the error that ended it; absent: none did. */
  readonly failed?: string | undefined;
}

/** The ledger's id of an attempt of this run's plan. */
export function planAttemptId(
  { definition, lease }: Pick<GraphPorts, 'definition' | 'lease'>,
  attempt: string,
): string {
  return attemptId(attemptScope(definition.name, lease.runId), attempt);
}

/** Wakes the node that waits for the ledger. */
export interface WakeSignal {
  raise(): void;
  /** Ends a wait without a signal: something may have been written. */
  readonly glance: () => void;
  /** Resolves with true at the next signal, at once if there was one since the last wait; with false after `ms`, or a glance. */
  wait(ms: number): Promise<boolean>;
}

/** The time that engines have worked on the run. It stops while nothing runs and nothing can start before an input. */
export interface WorkClock {
  /** ms over all segments. */
  totalMs(): number;
  suspend(): void;
  resume(): void;
}

/** Requests of the engine's host to a running run. */
export interface RunSwitch {
  /** Start nothing new and end once no turn runs. */
  draining(): boolean;
  /** The error of a broken machine, which ends the segment. */
  broken(): unknown;
  /** The operator stops the run while this segment runs. */
  stop(command: { seq: number; by: string }): void;
}
