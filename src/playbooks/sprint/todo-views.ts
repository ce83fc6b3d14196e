import type { TaskView, View } from '../../model/plan.ts';
import { isTodoDone, type Todo } from '../../model/sprint/sprint.ts';
import type { BacklogState } from '../../model/sprint/item.ts';
import type { SprintOptions } from '../../model/sprint/options.ts';
import type { TodoState } from '../../model/sprint/states.ts';
import { defined } from '../../text/defined.ts';
import { fenceTag } from '../../text/fence.ts';
import { plainLine } from '../../text/plain-text.ts';
import { ENDED } from '../shared/tasks.ts';
import { plannedIn, stageTask } from '../stages/stage-records.ts';
import { blockIn, isClosedOut, reopensOf } from './flow.ts';
import { answerIn, transitionIn } from './forms.ts';
import type { TodoEntry } from './todos.ts';
import { chainsOf, isQueued, type Chain } from './chains.ts';

const MOST_TEXT = 40_000;

/** A todo as it is now, with what follows for its item. */
export interface TodoView {
  readonly todo: Todo;
  readonly item: BacklogState;
}

/** The todos of the sprint, once they are chosen and, where a person has to, approved. */
export function todoViews(options: SprintOptions, view: View): TodoView[] {
  const chains = chainsOf(view);
  const planned = (plannedIn(view, 'TODOS') ?? []) as readonly TodoEntry[];
  return planned.flatMap((entry) => {
    const chain = chains.get(entry.id);
    return chain === undefined ? [] : [todoView(options, view, entry, chain)];
  });
}

function todoView(options: SprintOptions, view: View, entry: TodoEntry, chain: Chain): TodoView {
  const all = [...chain.values()];
  const block = blockIn(chain);
  const state = block === undefined ? stateOf(chain) : 'blocked';
  const bad = all.find(({ status }) => status === 'failed') ?? all.find(({ status }) => status === 'skipped');
  const reopened = countsOf(view, entry.id, chain);
  const { spec_changes, iteration_note } = answerIn('planned', chain.get('PLAN_TODO')?.answer)?.proposals ?? {};
  const todo: Todo = {
    ...{ id: entry.id, item: entry.item, title: entry.title, state },
    ...defined({
      commit: state === 'committed' ? commitIn(chain) : undefined,
      why: block?.reason ?? (WITH_WHY.has(state) ? bad?.why : undefined),
      required_inputs: block?.required_inputs,
      reopened: Object.keys(reopened).length === 0 ? undefined : reopened,
      ...{ spec_changes, iteration_note },
    }),
  };
  return { todo, item: itemOf(options, view, todo, chain) };
}

function commitIn(chain: Chain): string | undefined {
  return chain.get('COMMIT')?.commit ?? chain.get('BUILD')?.commit;
}

const WITH_WHY: ReadonlySet<TodoState> = new Set(['failed', 'uncommitted', 'carried_over']);

/** Where it waits for nothing that a person has to bring. */
function stateOf(chain: Chain): TodoState {
  const all = [...chain.values()];
  const [plan, guide, build, commit] = ['PLAN_TODO', 'GUIDE', 'BUILD', 'COMMIT'].map((stage) => chain.get(stage));
  if (commit?.status === 'failed') return 'uncommitted';
  if (all.some(({ status }) => status === 'failed')) return 'failed';
  if (plan === undefined || all.some(({ status }) => status === 'cancelled')) return 'carried_over';
  if (all.some(({ status }) => !ENDED.has(status))) {
    if (isQueued(chain)) return 'queued';
    return build?.status === 'done' && commit !== undefined ? 'uncommitted' : 'running';
  }
  if (plan.status === 'skipped') return 'carried_over';
  if (commitIn(chain) !== undefined && build?.status === 'done') return 'committed';
  const isDropped = guide?.status === 'skipped' || build?.status === 'skipped';
  return isDropped && transitionIn(plan.answer)?.outcome !== 'complete' ? 'carried_over' : 'completed';
}

function itemOf({ backlog, sprint }: SprintOptions, view: View, todo: Todo, chain: Chain): BacklogState {
  const { state, item } = todo;
  const all = [...chain.values()];
  const isOver = all.every(({ status }) => ENDED.has(status));
  const own = {
    selected_in_sprint_id: sprint,
    ...defined({ inputs: backlog.find(({ id }) => id === item)?.inputs }),
    at: Math.max(...all.map(({ at }) => (isOver ? at.ended : at.added) ?? at.added)),
  };
  if (isTodoDone(todo))
    return { state: 'done', ...own, completed_in_sprint_id: sprint, ...defined({ commit: todo.commit }) };
  const block = blockIn(chain);
  if (block !== undefined) {
    const { reason, role, required_inputs, recommended_next_step: next } = block;
    const why = { blocked_reason: reason, blocked_by_role: role, required_inputs };
    return { state: 'blocked', ...own, ...why, ...defined({ recommended_next_step: next ?? undefined }) };
  }
  // A commit that failed twice waits for another sprint.
  const commit = chain.get('COMMIT');
  const isLost = commit?.status === 'failed' && isClosedOut(view, commit.id);
  const isLeft = state === 'failed' || state === 'carried_over' || isLost;
  return { state: isLeft ? 'carried_over' : 'selected', ...own };
}

function countsOf(view: View, entry: string, chain: Chain): Record<string, number> {
  const rejected = (chain.get('BUILD')?.rounds ?? []).flatMap(({ approved, category }) =>
    approved ? [] : (category ?? []),
  );
  const all = [...rejected, ...reopensOf(view, entry).map(({ category }) => category)];
  return Object.fromEntries([...new Set(all)].map((one) => [one, all.filter((other) => other === one).length]));
}

/** The end of each todo, for the planner that reports. */
export function backgroundOfReport(options: SprintOptions, view: View, { id }: Pick<TaskView, 'id'>): string {
  if (stageTask(view, id)?.stage !== 'REPORT') return '';
  const lines = todoViews(options, view).map(({ todo }) => {
    const { title, item, state, commit, why, required_inputs: inputs = [] } = todo;
    return [
      `- ${todo.id} (${item}): ${plainLine(title)}: ${state}${commit === undefined ? '' : `, commit ${commit}`}`,
      ...(why === undefined ? [] : [`  why: ${plainLine(why, 1_000)}`]),
      ...inputs.map((one) => `  it waits for: ${plainLine(one)}`),
    ].join('\n');
  });
  return fenceTag('todos', lines.join('\n'), MOST_TEXT);
}
