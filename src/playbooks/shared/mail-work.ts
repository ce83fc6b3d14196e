import { ownCriterion } from './own-criterion.ts';
import type { View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { PlaybookEvent } from '../../model/plan/event.ts';
import type { NewTask } from '../../model/plan/task.ts';
import { ENDED } from './tasks.ts';

/** How a playbook plans work that mail adds, with the same review and checks as its planned work. */
export interface MailWork {
  /** The tasks for the work, in the order of their needs. The requested task comes first. */
  tasks(view: View, asked: NewTask): readonly NewTask[];
  /** Records of these tasks. Absent: there are none. */
  records?(view: View, asked: NewTask): readonly PlanChange[];
  /** The task for MAIN's answer that may change the documentation. */
  answer(view: View, task: NewTask): NewTask;
  /** Tasks that judge the whole, in their order. They wait for all work, and judge again if work is delivered after them. */
  readonly finals: readonly string[];
  /** Why an agent's question is refused; undefined: it is not. Absent: none is. */
  refusal?(view: View, ask: Extract<PlaybookEvent, { type: 'mail' }>): string | undefined;
  /** Absent: no answer adds paths to a task. */
  readonly grants?: PathGrants;
}

/** An answer to the question `ask`, by the address `by`, with paths that the asker's task is to have. */
export interface PathsAnswer {
  readonly ask: { readonly from: string; readonly via?: string | undefined };
  readonly by: string;
  readonly paths: readonly string[];
}

/** Who may add paths to the task of an agent that asks, and what follows from an answer with paths. */
export interface PathGrants {
  mayAdd(view: View, ask: PathsAnswer['ask'], agent: string): boolean;
  /** `added`: the paths that the task has from now on. */
  add(view: View, answer: PathsAnswer): { readonly added: readonly string[]; readonly changes: readonly PlanChange[] };
}

/** Plans without a review: agents that commit deliver, and all others change nothing. */
export const UNREVIEWED: MailWork = {
  tasks: ({ roster }, asked) => {
    const members = roster.filter(({ name, role }) =>
      asked.agent === undefined ? role === asked.role : name === asked.agent,
    );
    if (!members.every(({ commits }) => commits)) return [asked];
    return [{ ...asked, workspace: 'own', integrate: true, requires: [{ kind: 'commit' }] }];
  },
  answer: (_view, task) => task,
  finals: [],
};

/** Criteria for reviews of work that mail adds. Only the message says what the work is. */
export function mailCriteria({ objective, prompts }: View): string[] {
  const own = [{ message: 'yes' }, { before: 'yes' }, ...objective.criteria.map(({ text }) => ({ criterion: text }))];
  return own.map((facts) => ownCriterion(facts, prompts));
}

/** Makes the first task that judges the whole wait for this work, unless that task has ended. */
export function waitFor(view: View, { finals }: MailWork, work: readonly string[]): PlanChange[] {
  const [final] = finals;
  const task = final === undefined ? undefined : view.task(final);
  if (task === undefined || ENDED.has(task.status) || work.length === 0) return [];
  return [{ do: 'edit-task', id: task.id, needs: [...task.needs, ...work] }];
}
