import type { Json } from '../../text/json.ts';
import type { MailAction } from '../mail/kind.ts';
import type { MailType } from '../mail/vocabulary.ts';
import type { RuntimeName } from '../runtime-name.ts';
import type { Gate, RunBranch } from './gate.ts';
import type { StallFallback } from './work.ts';
import type { TaskTable } from './task-table.ts';

export type { TaskState } from './task-table.ts';

export interface Objective {
  readonly title: string;
  readonly goals: readonly string[];
  readonly criteria: readonly { readonly text: string; readonly command?: string }[];
  readonly text: string;
}

export interface Member {
  readonly name: string;
  readonly role: string;
  /** Whose usage limit it shares: one probe wakes all that share it. */
  readonly account: string;
  /** Attempts it may have at once; absent: as many as the run. */
  readonly capacity?: number;
  /** Another member that takes over while this one's account is parked. */
  readonly fallback?: string;
  /** false: its sandbox cannot commit. */
  readonly commits: boolean;
}

/** Caps of the plan and of each piece of work. What a whole run may use is in `RunCaps`. */
export interface PlanLimits {
  readonly tasks: number;
  /** Parents above a task. */
  readonly depth: number;
  /** Of tasks that have no review of their own; conflicts and failed verifications too, each for itself. */
  readonly rounds: number;
  readonly retries: number;
  readonly infrastructure: number;
  readonly transient: number;
  /** Fallbacks after a stall, in order; the last one repeats. */
  readonly stallFallbacks: readonly StallFallback[];
}

export const DEFAULT_PLAN_LIMITS: PlanLimits = {
  tasks: 2_000,
  depth: 3,
  rounds: 4,
  retries: 2,
  infrastructure: 5,
  transient: 8,
  stallFallbacks: ['retry', 'workspace-reset', 'fail'],
};

/** Fixed for the run. */
export interface RunFacts {
  readonly objective: Objective;
  readonly options: Json;
  readonly roster: readonly Member[];
  readonly limits: PlanLimits;
  /** The run has commands that every candidate must pass. */
  readonly verifies: boolean;
  /** The commit that the run branch started from. */
  readonly base: string;
  /** The language of what squad writes about mail. Absent: English. */
  readonly locale?: 'en' | 'zh';
}

export interface Question {
  readonly id: string;
  readonly text: string;
  readonly options: readonly string[];
  readonly blocks: readonly string[] | 'run';
  /** A fault that only a person can mend, the playbook, or an agent whose coordinator is a person. */
  readonly by: 'engine' | 'playbook' | 'mail';
  /** What counts once nobody has answered until then. */
  readonly default: { readonly answer: string; readonly at: number } | null;
  readonly answer: string | null;
}

export interface MailView {
  /** Of what a playbook sent: its key, after `key:`; the router's id is made later. */
  readonly id: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly type: MailType;
  readonly action?: MailAction;
  readonly task?: string;
  readonly key?: string;
  /** Id or `key:` of what it replies to. */
  readonly re?: string;
  /** The task whose turn sent it. */
  readonly via?: string;
  readonly body: Json;
  /** Epoch ms. */
  readonly at: number;
  /** Who still has to answer it; empty where nobody does. */
  readonly owes: readonly string[];
}

/** An account at its usage limit. `probe`: the one attempt that is let through after `until`. */
export interface LimitedAccount {
  readonly until: number;
  readonly probe: string | null;
}

/** An account whose login or payment does not work. `givenUp`: a person will not fix it. */
export interface LockedOutAccount {
  readonly givenUp: boolean;
}

/** What the operator paused, and since when (epoch ms). */
export interface Pause {
  readonly verb: 'pause' | 'drain' | 'stop';
  readonly by: string;
  readonly at: number;
}

/** What takes the turns of an agent, or of a task, in place of what was agreed. `seq`: of the command. */
export interface Switch {
  readonly runtime: RuntimeName;
  /** null: the runtime's own. */
  readonly model: string | null;
  readonly seq: number;
}

/** The one in-memory fold of a run's plan. Immutable; the same entries make the same board. */
export interface Board {
  /** `at` and `seq` of the last entry: the only clock. */
  readonly now: number;
  readonly seq: number;
  readonly facts: RunFacts;
  readonly tasks: TaskTable;
  readonly records: ReadonlyMap<string, ReadonlyMap<string, Json>>;
  readonly timers: ReadonlyMap<string, number>;
  readonly questions: ReadonlyMap<string, Question>;
  readonly mail: ReadonlyMap<string, MailView>;
  readonly accounts: ReadonlyMap<string, LimitedAccount>;
  readonly lockedOut: ReadonlyMap<string, LockedOutAccount>;
  /** By scope: the run, an agent, a task. */
  readonly pauses: ReadonlyMap<string, Pause>;
  /** By scope: an agent, a task. */
  readonly switches: ReadonlyMap<string, Switch>;
  readonly gate: Gate;
  readonly branch: RunBranch;
  readonly finished: { readonly outcome: 'done' | 'failed'; readonly why: string } | null;
}
