import type { TaskView, View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { PlaybookEvent } from '../../model/plan/event.ts';
import type { SprintOptions } from '../../model/sprint/options.ts';
import { ENDED } from '../shared/tasks.ts';
import { stageTask } from '../stages/stage-records.ts';
import { answerIn } from './forms.ts';
import { blockText, endEarly, isClosedOut, putBlock, putCloseout, putReopen, reopensOf } from './flow-records.ts';
import { chainOf, isQueued, stageTasksOf, todosOf } from './todo-tasks.ts';
import type { Category, Transition } from '../../model/sprint/transition.ts';

/** The timer of the time at which no more todo begins. */
export const CUTOFF = 'sprint-cutoff';

/** Changes that the sprint decides on itself; undefined: its list does. */
export function heard(options: SprintOptions, view: View, event: PlaybookEvent): PlanChange[] | undefined {
  switch (event.type) {
    case 'timer':
      return event.id === CUTOFF ? wrapUp(options, view) : undefined;
    case 'task-skipped':
      return skipped(view, event.task);
    case 'task-done':
      return asked(view, event.task);
    default:
      return undefined;
  }
}

/** No more todo begins. Before there are any, the sprint ends. */
function wrapUp(options: SprintOptions, view: View): PlanChange[] {
  const todos = todosOf(view);
  if (todos.length === 0) {
    const asks = stageTasksOf(view, 'APPROVE').length > 0 && options.approve === 'todos';
    return endEarly(view.now, asks ? 'no one approved its todos before its time was over' : INCOMPLETE_BY_TIME);
  }
  return todos.flatMap((entry) => {
    const chain = chainOf(view, entry);
    return isQueued(chain) ? settle(chain.all, 'its sprint wraps up') : [];
  });
}

const INCOMPLETE_BY_TIME = 'planning_incomplete: its time was over before it had todos';

/** A todo whose first step is skipped does not begin. */
function skipped(view: View, id: string): PlanChange[] | undefined {
  const place = stageTask(view, id);
  if (place?.stage !== 'PLAN_TODO' || place.entry === undefined) return undefined;
  const rest = settle(chainOf(view, place.entry).all, `${id} was skipped`);
  return rest.length === 0 ? undefined : rest;
}

/** Acts on an answer that reopens an earlier step, or blocks its todo. Delivered work stays as it was judged. */
function asked(view: View, id: string): PlanChange[] | undefined {
  const place = stageTask(view, id);
  const task = view.task(id);
  if (place?.entry === undefined || task === undefined || task.commit !== undefined) return undefined;
  const { entry, stage } = place;
  const answer = FORMS_OF[stage] && answerIn(FORMS_OF[stage], task.answer);
  if (answer === undefined) return undefined;
  const { workflow_transition: transition } = answer.proposals;
  if (transition.outcome === 'block') return block(entry, task, transition);
  const given: Category | null = transition.outcome === 'reopen' ? transition.reopen_category : null;
  const category = given ?? (stage === 'BUILD' && isOnlyPlanned(answer.artifacts) ? 'scope' : null);
  return category === null ? undefined : reopen(view, { entry, task, category, reason: transition.reason });
}

const FORMS_OF: Readonly<Record<string, 'planned' | 'guidance' | 'built' | undefined>> = {
  PLAN_TODO: 'planned',
  GUIDE: 'guidance',
  BUILD: 'built',
};

/** Whether all that was handed in are documents of the planner. */
function isOnlyPlanned(artifacts: readonly string[]): boolean {
  return artifacts.length > 0 && artifacts.every((path) => PLANNED.test(path));
}

const PLANNED = /(?:^|\/)(?:milestone|plan|spec|iteration_log)\.md$/;

function block(entry: string, task: TaskView, transition: Transition): PlanChange[] {
  const { reason, required_inputs, recommended_next_step } = transition;
  const why = `blocked by ${task.role}: ${blockText(transition)}`;
  return [
    putBlock(entry, { reason, role: task.role, required_inputs, recommended_next_step }),
    { do: 'settle-task', id: task.id, as: 'failed', why, cause: 'blocked' },
  ];
}

interface Reopening {
  readonly entry: string;
  /** The task that asks for it, which is done again afterwards. */
  readonly task: TaskView;
  readonly category: Category;
  readonly reason: string;
}

/** Opens the step that the category leads to, the steps between, and the one that asks, within the rounds of a review. */
function reopen(view: View, { entry, task, category, reason }: Reopening): PlanChange[] {
  const chain = chainOf(view, entry);
  const taken = reopensOf(view, entry).length + (chain.build?.rounds ?? []).filter(({ approved }) => !approved).length;
  const most = chain.build?.review?.rounds ?? 1;
  const said = `${task.role} reopened ${entry} for its ${category}: ${reason}`;
  if (taken + 1 >= most) {
    return [{ do: 'settle-task', id: task.id, as: 'failed', why: `${said}; it has used its ${most} rounds` }];
  }
  const steps = [chain.plan, chain.guide, chain.build];
  const first = category === 'architecture' ? 1 : 0;
  const again = steps.slice(first, steps.findIndex((one) => one?.id === task.id) + 1);
  return [
    putReopen(view, entry, { by: task.role, category, reason }),
    // All but the first begin with another answer in their brief, which the session that they have would not see.
    ...again.flatMap((one, at): PlanChange[] =>
      one === undefined
        ? []
        : [{ do: 'reopen-task', id: one.id, feedback: said, session: at === 0 && one.id !== task.id ? 'same' : 'new' }],
    ),
  ];
}

/** The rest of a todo that its planner completes: nothing is built for it. */
export function withoutBuild(view: View, entry: string): PlanChange[] {
  const { all, plan } = chainOf(view, entry);
  return settle(
    all.filter(({ id }) => id !== plan?.id),
    `${entry} is a planning todo`,
  );
}

function settle(tasks: readonly TaskView[], why: string): PlanChange[] {
  return tasks
    .filter(({ status }) => !ENDED.has(status))
    .map(({ id }): PlanChange => ({ do: 'settle-task', id, as: 'skipped', why }));
}

/** Before the report, each commit that failed is tried once more. */
export function closedOut(view: View, changes: PlanChange[]): PlanChange[] {
  const isReport = (change: PlanChange): boolean =>
    (change.do === 'add-task' && change.task.id.startsWith('report')) ||
    (change.do === 'put' && change.in === 'stage-tasks' && change.id.startsWith('report'));
  if (!changes.some((change) => change.do === 'add-task' && isReport(change))) return changes;
  const left = stageTasksOf(view, 'COMMIT').filter(({ id, status }) => status === 'failed' && !isClosedOut(view, id));
  if (left.length === 0) return changes;
  return [
    ...changes.filter((change) => !isReport(change)),
    ...left.flatMap(({ id }): PlanChange[] => [
      putCloseout(id),
      { do: 'reopen-task', id, feedback: 'Every other todo has ended. Commit what is left.', session: 'same' },
    ]),
  ];
}
