import type { OwnRoutes } from '../mail/route.ts';
import type { RunEndedAs } from '../run-state.ts';
import type { DescribedRuntimes } from '../runtime-description.ts';
import type { Json } from '../../text/json.ts';
import type { MailAction } from '../mail/kind.ts';
import type { MailType } from '../mail/vocabulary.ts';
import type { Baseline, Doubtful } from './baseline.ts';
import type { Gate, RunBranch } from './gate.ts';
import type { LockOutKind } from './lock-out.ts';
import type { StallFallback } from './work.ts';
import type { TaskTable } from './task-table.ts';

export type { TaskState, TaskTimes } from './task-table.ts';

/** `proposed`: a command that an agent wrote and no person agreed to. It is not run. */
interface RunCriterion {
  readonly text: string;
  readonly command?: string;
  readonly proposed?: string;
}

/** The objective of the run. */
export interface Objective {
  readonly title: string;
  readonly goals: readonly string[];
  readonly criteria: readonly RunCriterion[];
  readonly constraints: readonly string[];
  /** Markdown. */
  readonly context: string;
  readonly priority?: string;
  /** Epoch ms. */
  readonly deadline?: number;
  readonly text: string;
  /** Names of the other repositories, in `repositories/`. Absent: the run works on one. */
  readonly repositories?: readonly string[];
}

/** An agent of the run. */
export interface Member {
  readonly name: string;
  readonly role: string;
  /** The account whose usage limit it shares. One probe wakes all members that share it. */
  readonly account: string;
  /** Attempts that it may have at once. Absent: as many as the run. */
  readonly capacity?: number;
  /** false: its sandbox cannot commit. */
  readonly commits: boolean;
  /** Its access lets it change nothing. */
  readonly readOnly?: true;
}

/** Limits of the plan and of each task. `Limits` has those of the whole run. */
export interface PlanLimits {
  readonly tasks: number;
  /** Parents above a task. */
  readonly depth: number;
  /** For tasks without a review of their own. Conflicts and failed verifications count separately. */
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
  /** Roles that judge work of others, in order of preference. */
  readonly judges: readonly string[];
  /** By runtime: the one on which its agents work while it is at its limit or locked out. Absent: none stands in. */
  readonly fallbacks?: Readonly<Record<string, string>>;
  /** The runtimes that were registered when the run began. */
  readonly runtimes: DescribedRuntimes;
  readonly limits: PlanLimits;
  /** The run has commands that every candidate must pass. */
  readonly verifies: boolean;
  /** The run has commands that set up each folder. Absent: it has none. */
  readonly prepares?: boolean;
  /** Its commands run once on the base commit; `green`: all have to pass there. Absent: none runs there. */
  readonly baseline?: 'report' | 'green';
  /** Absent: there are none. */
  readonly doubtful?: Doubtful;
  /** Commands that may run without further consent. Absent: none. */
  readonly commands?: readonly string[];
  /** A person approves the plan before its tasks start. Absent: no person does. */
  readonly asksForPlan?: true;
  /** An approval of an agent that looked at nothing goes back once. Absent: it is only reported. */
  readonly looks?: 'required';
  /** The commit that the run branch started from. */
  readonly base: string;
  /** The language of what squad writes about mail. Absent: English. */
  readonly locale?: 'en' | 'zh';
  /** Bodies of prompts that the repository has changed, by name. Absent: all are squad's. */
  readonly prompts?: Readonly<Record<string, string>>;
  /** Absent, or without an entry: whom the playbook says. */
  readonly routes?: OwnRoutes;
}

export interface Question {
  readonly id: string;
  readonly text: string;
  readonly options: readonly string[];
  readonly blocks: readonly string[] | 'run';
  /** `engine`: only a person can fix the problem. `mail`: an agent asks and a person coordinates. `playbook`: a person decides. */
  readonly by: 'engine' | 'mail' | 'playbook';
  readonly answer: string | null;
}

/** A message as a playbook sees it. */
export interface MailView {
  /** For mail of a playbook: `key:` and its key, because the router makes the id later. */
  readonly id: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly type: MailType;
  readonly action?: MailAction;
  readonly task?: string;
  readonly key?: string;
  /** The id or `key:` of the message that it replies to. */
  readonly re?: string;
  /** The task whose turn sent it. */
  readonly via?: string;
  readonly body: Json;
  /** Epoch ms. */
  readonly at: number;
  /** Addresses that still have to answer. */
  readonly owes: readonly string[];
}

/** An account at its usage limit. `probe`: the one attempt that may start after `until`. */
export interface LimitedAccount {
  readonly until: number;
  readonly probe: string | null;
}

/** Why an account cannot be used until a person helps. */
export interface LockOut {
  readonly account: string;
  readonly kind: LockOutKind;
  readonly why: string;
  /** Who found it. */
  readonly agent: string;
  /** A person will not fix it. */
  readonly givenUp: boolean;
}

/** The operator's pauses, each with its start (epoch ms). */
export interface Pause {
  readonly verb: 'pause' | 'drain' | 'stop';
  readonly by: string;
  readonly at: number;
}

/** The runtime or model that the operator chose for an agent or a task. `seq`: of the command. */
export interface Switch {
  readonly runtime: string;
  /** null: the runtime's own. */
  readonly model: string | null;
  readonly seq: number;
}

/** A person's note to an agent, which no completed turn has had. */
export interface Note {
  readonly agent: string;
  readonly text: string;
  readonly by: string;
  /** Epoch ms. */
  readonly at: number;
  /** The attempt whose prompt has it; null: none has. */
  readonly attempt: string | null;
  /** The task whose turn it ended, which continues with it; null: it is for the agent's next turn, whatever that is about. */
  readonly task: string | null;
}

/** The state of a run's plan, folded from its entries. Immutable; the same entries make the same board. */
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
  /** By account, or by account and agent where only that agent's settings are the problem. */
  readonly lockedOut: ReadonlyMap<string, LockOut>;
  /** By scope: the run, an agent, a task. */
  readonly pauses: ReadonlyMap<string, Pause>;
  /** By scope: an agent, a task. */
  readonly switches: ReadonlyMap<string, Switch>;
  /** Oldest first. */
  readonly notes: readonly Note[];
  /** The person who let turns start after the deadline; null: no person did. */
  readonly pastDeadline: string | null;
  readonly gate: Gate;
  readonly baseline: Baseline;
  readonly branch: RunBranch;
  readonly finished: {
    readonly outcome: RunEndedAs;
    readonly why: string;
    /** When it ended as done: the reasons why it is less than was asked for; absent: none. */
    readonly remarks?: readonly string[];
  } | null;
}
