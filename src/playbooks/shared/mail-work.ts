import type { TaskView, View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { NewTask } from '../../model/plan/task.ts';
import { ENDED, reached } from './tasks.ts';

/** How a playbook plans work that mail adds, with the same review and checks as its planned work. */
export interface MailWork {
  /** The tasks for the work, in the order of their needs. The requested task comes first. */
  tasks(view: View, asked: NewTask): readonly NewTask[];
  /** The task for MAIN's answer that may change the documentation. */
  answer(view: View, task: NewTask): NewTask;
  /** Tasks that judge the whole, in their order. They wait for all work, and judge again if work is delivered after them. */
  readonly finals: readonly string[];
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
export function mailCriteria({ objective }: View): string[] {
  return [
    'it does what the message asks for, meets the success criteria that the message names, and changes nothing else',
    'what was delivered before is still there and still works',
    ...objective.criteria.map(({ text }) => `it leaves this possible: ${text}`),
  ];
}

/** Makes the first task that judges the whole wait for this work, unless that task has ended. */
export function waitFor(view: View, { finals }: MailWork, work: readonly string[]): PlanChange[] {
  const [final] = finals;
  const task = final === undefined ? undefined : view.task(final);
  if (task === undefined || ENDED.has(task.status) || work.length === 0) return [];
  return [{ do: 'edit-task', id: task.id, needs: [...task.needs, ...work] }];
}

/** Once all tasks have ended: reopens those that judge the whole if work was delivered that they did not wait for. */
export function judgeAgain(view: View, { finals }: Pick<MailWork, 'finals'>): PlanChange[] {
  const tasks = finals.flatMap((id) => view.task(id) ?? []);
  const [first] = tasks;
  if (first === undefined || tasks.some(({ status }) => status !== 'done')) return [];
  const missed = unjudged(view, first);
  if (missed.length === 0) return [];
  const feedback = `This was delivered after it was judged: ${missed.join(', ')}.`;
  return [
    ...tasks.map(({ id }): PlanChange => ({ do: 'reopen-task', id, feedback, session: 'same' })),
    { do: 'edit-task', id: first.id, needs: [...first.needs, ...missed] },
  ];
}

function unjudged(view: View, final: TaskView): string[] {
  const judged = reached(view, final.id);
  const delivered = view.tasks({ status: 'done' }).filter(({ integrate, commit }) => integrate && commit !== undefined);
  return delivered.flatMap(({ id }) => (judged.has(id) ? [] : [id]));
}
