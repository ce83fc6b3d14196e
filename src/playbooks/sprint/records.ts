import type { TaskView, View, WorkspaceRecord } from '../../model/plan.ts';
import type { BacklogState } from '../../model/sprint/item.ts';
import type { SprintOptions } from '../../model/sprint/options.ts';
import { KINDS } from '../../model/sprint/kinds.ts';
import type { SprintProgress } from '../../model/sprint/sprint.ts';
import type { SprintState } from '../../model/sprint/states.ts';
import { defined } from '../../text/defined.ts';
import { plainJson } from '../../text/json.ts';
import { stageTasks } from '../stages/stage-records.ts';
import { itemRecords } from './backlog-records.ts';
import { routings } from './delegation.ts';
import { earlyEnd } from './flow-records.ts';
import { answerIn } from './forms.ts';
import { todoViews, type TodoView } from './todo-views.ts';
import { stageTasksOf } from './todo-tasks.ts';

/** All that outlives the sprint's run. Times are those of its tasks, so that nothing changes with the clock alone. */
export function recordsOfSprint(options: SprintOptions, view: View): WorkspaceRecord[] {
  const todos = todoViews(view);
  const progress = plainJson(progressOf(options, view, todos));
  return [
    ...itemRecords(view),
    ...todos.map(({ todo: { item }, ...one }) => ({
      kind: KINDS.itemState,
      id: item,
      value: plainJson(stateOfItem(options, item, one)),
    })),
    { kind: KINDS.progress, id: options.sprint, value: progress },
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
  const [report] = stageTasksOf(view, 'REPORT');
  const places = stageTasks(view).flatMap(({ stage, entry, task }) => {
    const state = view.task(task);
    return entry !== undefined || state === undefined ? [] : [{ stage, state }];
  });
  const last = places.at(-1)?.stage ?? 'RESEARCH';
  const at = [...places.map(({ state }) => state), ...todos.flatMap(({ tasks }) => tasks)].map(timeOf);
  const said = answerIn('report', report?.answer)?.proposals.report;
  const research = answerOf(view, 'RESEARCH', 'research')?.proposals;
  return {
    state: end?.state ?? stateOf(report, todos),
    phase: report === undefined && todos.length > 0 ? 'todo_execution' : (STEP_OF[last] ?? last),
    ...defined({
      title: answerOf(view, 'MILESTONE', 'milestone')?.proposals.title,
      reason: end?.reason,
      research: research === undefined ? undefined : withoutTransition(research),
      report: said,
    }),
    todos: todos.map(({ todo }) => todo),
    routing: routings(options, [...new Set(view.roster.map(({ role }) => role))]),
    at: Math.max(end?.at ?? 0, ...at),
  };
}

function withoutTransition(proposals: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(proposals).filter(([key]) => key !== 'workflow_transition'));
}

function answerOf<N extends 'research' | 'milestone'>(view: View, stage: string, name: N) {
  const task = stageTasksOf(view, stage).findLast(({ status }) => status === 'done');
  return answerIn(name, task?.answer);
}

function stateOf(report: TaskView | undefined, todos: readonly TodoView[]): SprintState {
  if (report?.status === 'done' || report?.status === 'skipped') return 'completed';
  if (report?.status === 'failed' || report?.status === 'cancelled') return 'failed';
  if (report !== undefined) return 'wrap_up';
  if (todos.length === 0) return 'planning';
  return todos.some(({ todo }) => todo.state === 'carried_over') ? 'wrap_up' : 'running';
}

function timeOf({ at: { ended, started, added } }: TaskView): number {
  return ended ?? started ?? added;
}

function stateOfItem(
  options: SprintOptions,
  id: string,
  { now, block, commit, at }: Omit<TodoView, 'todo'>,
): BacklogState {
  const inputs = options.backlog.find((item) => item.id === id)?.inputs;
  const sprint = options.sprint;
  const own = { selected_in_sprint_id: sprint, ...defined({ inputs }), at };
  if (now === 'done') return { state: 'done', ...own, completed_in_sprint_id: sprint, ...defined({ commit }) };
  if (now !== 'blocked') return { state: now, ...own };
  return {
    ...{ state: 'blocked', ...own, blocked_reason: block?.reason ?? '', blocked_by_role: block?.role ?? '' },
    required_inputs: [...(block?.required_inputs ?? [])],
    ...defined({ recommended_next_step: block?.recommended_next_step ?? undefined }),
  };
}
