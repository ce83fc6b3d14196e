import type { TaskView, View, WorkspaceRecord } from '../../model/plan.ts';
import type { SprintOptions } from '../../model/sprint/options.ts';
import { KINDS } from '../../model/sprint/kinds.ts';
import { kickoffWords, type SprintProgress } from '../../model/sprint/sprint.ts';
import type { SprintState } from '../../model/sprint/states.ts';
import { defined } from '../../text/defined.ts';
import { plainJson } from '../../text/json.ts';
import { stageTasks } from '../stages/stage-records.ts';
import { itemRecords } from './backlog-records.ts';
import { earlyEnd } from './flow.ts';
import { answerIn } from './forms.ts';
import { routedSteps } from '../../model/sprint/routing.ts';
import { todoViews, type TodoView } from './todo-views.ts';
import { stageAnswer, stageTasksOf } from './chains.ts';

/** All that outlives the sprint's run. Times are those of its tasks, so that nothing changes with the clock alone. */
export function recordsOfSprint(options: SprintOptions, view: View): WorkspaceRecord[] {
  const todos = todoViews(options, view);
  return [
    ...itemRecords(view),
    ...todos.map(({ todo, item }) => ({ kind: KINDS.itemState, id: todo.item, value: plainJson(item) })),
    { kind: KINDS.progress, id: options.sprint, value: plainJson(progressOf(options, view, todos)) },
  ];
}

const STEP_OF: Readonly<Record<string, string>> = {
  RESEARCH: 'research_initial',
  MILESTONE: 'milestone_refinement',
  ARTIFACT_SYNC: 'artifact_sync',
  BACKLOG: 'backlog_definition',
  PRIORITIES: 'backlog_prioritization',
  TODOS: 'todo_finalization',
  APPROVE: 'todo_approval',
  REPORT: 'sprint_report',
};

function progressOf(options: SprintOptions, view: View, todos: readonly TodoView[]): SprintProgress {
  const end = earlyEnd(view);
  const asked = { policy: options.policy, text: kickoffWords(options), staffed: view.roster.map(({ role }) => role) };
  const [report] = stageTasksOf(view, 'REPORT');
  const places = stageTasks(view).flatMap(({ stage, entry, task: id }) => {
    const task = view.task(id);
    return task === undefined ? [] : [{ stage, entry, task }];
  });
  const last = places.findLast(({ entry }) => entry === undefined)?.stage ?? 'RESEARCH';
  const { workflow_transition: _, ...research } = answerIn('research', stageAnswer(view, 'RESEARCH'))?.proposals ?? {};
  return {
    state: end === undefined ? stateOf(report, todos) : 'blocked',
    phase: report === undefined && todos.length > 0 ? 'todo_execution' : (STEP_OF[last] ?? last),
    ...defined({
      title: answerIn('milestone', stageAnswer(view, 'MILESTONE'))?.proposals.title,
      reason: end?.reason,
      research: Object.keys(research).length === 0 ? undefined : research,
      report: answerIn('report', stageAnswer(view, 'REPORT'))?.proposals.report,
    }),
    todos: todos.map(({ todo }) => todo),
    routing: routedSteps(asked),
    at: Math.max(end?.at ?? 0, ...places.map(({ task: { at } }) => at.ended ?? at.started ?? at.added)),
  };
}

function stateOf(report: TaskView | undefined, todos: readonly TodoView[]): SprintState {
  if (report?.status === 'done' || report?.status === 'skipped') return 'completed';
  if (report?.status === 'failed' || report?.status === 'cancelled') return 'failed';
  if (report !== undefined) return 'wrap_up';
  if (todos.length === 0) return 'planning';
  return todos.some(({ todo }) => todo.state === 'carried_over') ? 'wrap_up' : 'running';
}
