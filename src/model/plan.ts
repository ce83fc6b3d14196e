import type { Json } from '../text/json.ts';
import type { Limits } from './limits.ts';
import type { MailVerb } from './mail/kind.ts';
import type { MailView, Member, Objective, TaskTimes } from './plan/board.ts';
import type { PlanChange } from './plan/change.ts';
import type { PlaybookEvent } from './plan/event.ts';
import type { Cause, NewTask, TaskStatus } from './plan/task.ts';
import type { RoundRecord } from './plan/round-record.ts';
import type { AgentSettings, SettingsSection, Settings } from './settings.ts';

/** A task as a playbook sees it. */
export interface TaskView extends NewTask {
  readonly status: TaskStatus;
  readonly round: number;
  /** The rounds of its review that have a verdict, oldest first. */
  readonly rounds: readonly RoundRecord[];
  /** The agents that review it, or reviewed it last. */
  readonly reviewers: readonly string[];
  /** The review that is open, of a task with several. */
  readonly openReview?: string;
  readonly at: TaskTimes;
  readonly attempts: number;
  readonly commit?: string;
  readonly answer?: Json;
  readonly cause?: Cause;
  readonly why?: string;
  /** The agent that has its session. */
  readonly doneBy?: string;
  /** The person who says that it is done; absent: its work counts for itself. */
  readonly acceptedBy?: string;
  readonly followUps: readonly string[];
}

/** A stage of a playbook, as people see it. */
export interface StageView {
  readonly id: string;
  readonly title: string;
  readonly state: 'waiting' | 'live' | 'done' | 'failed' | 'skipped';
  /** The agents at work, or those who did it. */
  readonly by: readonly string[];
  readonly tasks: readonly string[];
  /** In a stage that judges: how many rounds have begun, and how many it may take. */
  readonly round?: { readonly taken: number; readonly cap: number };
  /** Epoch ms. */
  readonly startedAt?: number;
  readonly endedAt?: number;
}

/** The state that a playbook sees: the fold of all events up to the one it handles. */
export interface View {
  /** `at` of the event: the only clock. */
  readonly now: number;
  readonly objective: Objective;
  readonly options: Json;
  /** The language of what squad writes about mail. Absent: English. */
  readonly locale?: 'en' | 'zh';
  /** Bodies of prompts that the repository has changed, by name. Absent: all are squad's. */
  readonly prompts?: Readonly<Record<string, string>>;
  /** A person approves the plan before its tasks start. Absent: no person does. */
  readonly asksForPlan?: true;
  /** By agent, address or role: whom it may write to besides MAIN. Absent, or without an entry: whom the playbook says. */
  readonly routes?: Readonly<Record<string, readonly string[]>>;
  readonly roster: readonly (Member & { readonly busy: boolean })[];
  task(id: string): TaskView | undefined;
  /** In order of arrival. `ended: false` skips tasks that have ended, of which a long run has thousands. */
  tasks(
    where?: Partial<Pick<TaskView, 'status' | 'role' | 'parent' | 'kind'>> & { readonly ended?: boolean },
  ): readonly TaskView[];
  record(where: string, id: string): Json | undefined;
  records(where: string): readonly { readonly id: string; readonly value: Json }[];
  /** Mail so far, in order. `re`: the id or `key:` of the message that it replies to. */
  mail(where?: Partial<Pick<MailView, 'key' | 'task' | 'from' | 'type' | 'action' | 're'>>): readonly MailView[];
  /** Messages that wait for an answer; with an address, for an answer from it. */
  unanswered(of?: string): readonly MailView[];
}

/** The input of `Playbook.parse`. The objective and `squad.yaml` are already parsed. */
export interface PlaybookSource {
  readonly objective: Objective;
  readonly roster: readonly Member[];
  readonly options: Json;
  /** Bodies of prompts that the repository has changed, by name. Absent: all are squad's. */
  readonly prompts?: Readonly<Record<string, string>>;
}

/** The input of a playbook, or why it cannot use what it was given. */
export type Parsed<I> =
  | { readonly ok: true; readonly input: I }
  /** In the order in which a person should fix them. */
  | { readonly ok: false; readonly errors: readonly string[] };

/** A role that a playbook has work for. */
export interface Role {
  /** Whether its work changes files: that of each of its agents, of some of them, or of none. */
  readonly delivers: 'each' | 'some' | 'none';
  /** Its agents judge commits and success criteria of work that they did not write, as those of the role `reviewer` always do. */
  readonly judges?: boolean;
  /** The part of the session instructions about it. Absent: that of squad for this name, or a reference to the task's brief. */
  readonly instructions?: string;
  /** The description of a session that `instructions` are: squad says so in front of them. */
  readonly describedBy?: { readonly name: string; readonly file: string };
  /** The name of squad's prompt with its instructions, such as `planner/role`. Absent: that of its name, or `instructions`. */
  readonly prompt?: string;
}

/** The input of `cast`, which makes the default agents of a run. */
export interface CastSource {
  /** The runtimes that work here, in order of preference; at least one. */
  readonly runtimes: readonly string[];
  /** `team.members` of `squad.yaml`. */
  readonly members: number;
}

/** One agent of a default cast. */
export type CastMember = Pick<AgentSettings, 'name' | 'role' | 'runtime' | 'access'>;

/** The input from which a playbook makes the options of a run. */
export interface OptionsSource {
  /** Bodies of prompts that the repository has changed, by name. Absent: all are squad's. */
  readonly prompts?: Readonly<Record<string, string>>;
  /** The name of the run. */
  readonly run: string;
  /** The playbook's section of `squad.yaml`, as its schema parsed it; undefined: there is none. */
  readonly section: unknown;
  readonly limits: Limits;
  readonly publish: Settings['publish'];
  /** The commands that every candidate must pass. Absent: none. */
  readonly verify?: readonly string[];
  /** How many agents the caller lets do the same work. Absent: as the playbook says. */
  readonly tries?: number;
  /** The role of each agent. */
  readonly roles: readonly string[];
  readonly objective: { readonly criteria: readonly { readonly text: string }[] };
}

/** A plan read from an agent's answer, or the problems that make the answer unusable. */
export type PlanReading =
  | {
      readonly ok: true;
      /** The plan in its own form, without what does not belong to it. */
      readonly answer: Json;
      readonly summary: string;
      readonly tasks: readonly NewTask[];
      /** Criteria that the planner proposes; empty where the objective has its own. */
      readonly criteria: readonly ProposedCriterion[];
    }
  /** In the order in which its author should fix them. */
  | { readonly ok: false; readonly problems: readonly string[] };

export interface ProposedCriterion {
  readonly text: string;
  readonly command?: string | undefined;
}

/** One part of the work, as a plan names it. A playbook's own form may say more of it. */
export interface PlannedEntry {
  readonly id: string;
  readonly title: string;
  readonly brief: string;
  /** Ids of entries. */
  readonly needs: readonly string[];
  /** The criteria of its review. */
  readonly acceptance: readonly string[];
  /** Who does it, where several roles may. */
  readonly role?: string;
  /** The files and folders that it may change. Absent: all. */
  readonly paths?: readonly string[];
  /** The files and folders that it is expected to change; nothing holds it to them. Absent: not known. */
  readonly files?: readonly string[];
}

/** A required change that a verdict names. */
export interface AnswerFinding {
  readonly file: string | null;
  readonly line: number | null;
  readonly problem: string;
  readonly suggestion: string | null;
}

/** The meaning of an answer to the playbook that asked for it. */
export type AnswerReading =
  /** In the order in which its author should fix them. */
  | { readonly problems: readonly string[] }
  | {
      readonly problems?: never;
      /** Where the answer plans, in the order of their needs. */
      readonly entries?: readonly PlannedEntry[];
      /** A rejection without findings gives its summary as the reason. */
      readonly verdict?: {
        readonly approved: boolean;
        readonly summary: string;
        readonly findings: readonly AnswerFinding[];
      };
      /** Criteria that it proposes. */
      readonly criteria?: readonly ProposedCriterion[];
      /** In a plan its summary; otherwise the last words of the run. */
      readonly summary?: string;
      /** Made when the answer counts. */
      readonly changes?: readonly PlanChange[];
    };

/** A form that tasks answer in. */
export interface AnswerForm {
  /** JSON Schema. No field is optional, because strict structured output requires all. */
  readonly schema: Readonly<Record<string, Json>>;
  /** Turns to correct an answer with problems. Absent: 1. */
  readonly repairs?: number;
  /** Said above the problems of an answer, which become a list below it. Absent: its author reads the problems alone. */
  readonly refusal?: string;
  /** For the author, below the brief of its stage. */
  guide?(about: Omit<PlaybookSource, 'options'>): string;
  /**
   * Pure. Called when an answer arrives, before any review, and once it counts. `answer` is null where a person accepts the task without
   * one. Absent: every answer of the schema is taken as it is.
   */
  read?(view: View, answer: Json, task: string): AnswerReading;
}

/** A task whose answer plans the others. With `plan: ask`, a person approves the plan before the playbook hears of the answer. */
export interface Planning {
  readonly task: string;
  read(view: View, answer: unknown): PlanReading;
  /** A plan with a placeholder for each text, to show prompts before there is a plan. Absent: only first prompts are shown. */
  example?(view: View): Json;
  /** `auto`: a person is asked only where that was said, also at a terminal. Absent: at a terminal a person is asked. */
  readonly byDefault?: 'auto';
}

/** One thing that outlives runs, as a run sees it. */
export interface WorkspaceRecord {
  readonly kind: string;
  /** Unique in its kind. */
  readonly id: string;
  /** Free of secrets. */
  readonly value: Json;
}

/** Pure policy. It uses no loop, process, clock or file, and hears the ends of work but not its attempts. */
export interface Playbook<I> {
  readonly name: string;
  /** The forms of its tasks' answers, by name. Problems that one finds go back to the author. The form `review` is the engine's. */
  readonly answers?: Readonly<Record<string, AnswerForm>>;
  readonly roles: Readonly<Record<string, Role>>;
  /** Any role that `roles` does not name. Absent: it delivers nothing. */
  readonly otherRoles?: Role;
  /** The agents of a run whose `squad.yaml` names none. Absent: one for each of `roles`. */
  cast?(source: CastSource): CastMember[];
  /**
   * Agents that `squad.yaml` names for one of `roles` play, others do not, and a role without any gets those of the cast. Absent: who
   * `squad.yaml` names, plays.
   */
  readonly castsEachRole?: true;
  /** A run of it may work on several repositories: its plans are held to one for each task. Absent: on one. */
  readonly joinsRepositories?: true;
  /** The section of `squad.yaml` that has its name. Absent: there is none. */
  readonly settings?: SettingsSection;
  /** The options that a run keeps, from its settings. Absent: none. */
  options?(source: OptionsSource): Json;
  parse(source: PlaybookSource): Parsed<I>;
  plan(input: I): PlanChange[];
  /** Absent: no task plans the others, so there is no plan to approve. */
  readonly planning?: Planning;
  advance(view: View, event: PlaybookEvent): PlanChange[];
  /** Verbs of the mailbox that a role may use. */
  tools(role: string): readonly MailVerb[];
  /** The roles and addresses that a role may write to besides MAIN. Absent: none, as the protocol says. */
  routes?(role: string): readonly string[] | 'everybody';
  /** Limit on the time of assigned work, even if its message allows more. Absent: no limit. */
  longestAssignmentMs?(options: Json): number | undefined;
  /** Text about others' work, fenced as theirs, for the first prompt of a task and of a session. Follows the brief. Absent: nothing. */
  background?(view: View, task: TaskView): string;
  /** The steps of its work that people see, in order. Absent: people see tasks only. */
  stages?(view: View): readonly StageView[];
  /**
   * Says what the run knows of things that outlive it. The engine writes each of them that a step changes, in the step's transaction. Absent:
   * nothing.
   */
  records?(view: View): readonly WorkspaceRecord[];
  /** Files for people to read; rewritten when they change. */
  files?(view: View): readonly { readonly path: string; readonly text: string }[];
}

/** Playbooks by name. Each keeps its input to itself: what `parse` made is what `plan` of the same playbook gets. */
export type Playbooks = Readonly<Record<string, () => Playbook<unknown>>>;
