import type { Json } from '../text/json.ts';
import type { MailVerb } from './mail/kind.ts';
import type { MailView, Member, Objective } from './plan/board.ts';
import type { PlanChange } from './plan/change.ts';
import type { PlaybookEvent } from './plan/event.ts';
import type { Cause, NewTask, TaskStatus } from './plan/task.ts';

export interface TaskView extends NewTask {
  readonly status: TaskStatus;
  readonly round: number;
  readonly attempts: number;
  readonly commit?: string;
  readonly answer?: Json;
  readonly cause?: Cause;
  readonly why?: string;
  /** The agent that has its session. */
  readonly doneBy?: string;
  readonly followUps: readonly string[];
}

/** The state that a playbook sees: the fold of all events up to the one it handles. */
export interface View {
  /** `at` of the event: the only clock. */
  readonly now: number;
  readonly objective: Objective;
  readonly options: Json;
  /** The language of what squad writes about mail. Absent: English. */
  readonly locale?: 'en' | 'zh';
  readonly roster: readonly (Member & { readonly busy: boolean })[];
  task(id: string): TaskView | undefined;
  /** In order of arrival. `ended` false looks at nothing that has ended: a long run has thousands of these. */
  tasks(
    where?: Partial<Pick<TaskView, 'status' | 'role' | 'parent' | 'kind'>> & { readonly ended?: boolean },
  ): readonly TaskView[];
  record(where: string, id: string): Json | undefined;
  records(where: string): readonly { readonly id: string; readonly value: Json }[];
  /** Mail so far, in order; what the engine itself hands over is not in it. `re`: id or `key:` of what it replies to. */
  mail(where?: Partial<Pick<MailView, 'key' | 'task' | 'from' | 'type' | 'action' | 're'>>): readonly MailView[];
  /** Mail that asks for an answer and has none; of this address, where named. */
  unanswered(of?: string): readonly MailView[];
}

/** The input of `Playbook.parse`. The objective and `squad.yaml` are already parsed. */
export interface PlaybookSource {
  readonly objective: Objective;
  readonly roster: readonly Member[];
  readonly options: Json;
  /** Files that the playbook has a format for, by path within its folder. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

export type Parsed<I> =
  | { readonly ok: true; readonly input: I }
  /** In the order in which a person should fix them. */
  | { readonly ok: false; readonly errors: readonly string[] };

/** Pure policy. It uses no loop, process, clock or file, and hears the ends of work but not its attempts. */
export interface Playbook<I> {
  readonly name: string;
  /** JSON Schemas of the answers that its tasks name. `review` is the engine's. */
  readonly schemas: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  parse(source: PlaybookSource): Parsed<I>;
  plan(input: I): PlanChange[];
  advance(view: View, event: PlaybookEvent): PlanChange[];
  /** Verbs of the mailbox that a role may use. */
  tools(role: string): readonly MailVerb[];
  /** The roles and addresses that a role may write to besides MAIN. Absent: none, as the protocol says. */
  routes?(role: string): readonly string[] | 'everybody';
  /** Limit on the time of assigned work, even if its message allows more. Absent: no limit. */
  longestAssignmentMs?(options: Json): number | undefined;
  /** Readable files that should exist; rewritten when changed. */
  files?(view: View): readonly { readonly path: string; readonly text: string }[];
}
