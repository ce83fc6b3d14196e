import type { TaskView, View } from '../../model/plan.ts';
import { isTodoDone, type Todo } from '../../model/sprint/sprint.ts';
import type { ItemState, TodoState } from '../../model/sprint/states.ts';
import { defined } from '../../text/defined.ts';
import { ENDED } from '../shared/tasks.ts';
import { plannedIn } from '../stages/stage-records.ts';
import { blockOf, isClosedOut, reopensOf, type Block } from './flow-records.ts';
import { answerIn } from './forms.ts';
import type { TodoEntry } from './todos.ts';
import { chainsOf, isQueued, type Chain } from './todo-tasks.ts';

/** A todo as it is now, with what follows for its item. */
export interface TodoView {
  readonly todo: Todo;
  /** The state of its item. */
  readonly now: Extract<ItemState, 'selected' | 'done' | 'blocked' | 'carried_over'>;
  readonly block?: Block;
  readonly commit?: string;
  readonly tasks: readonly TaskView[];
  /** When it came to this. */
  readonly at: number;
}

/** The todos of the sprint, once they are chosen and, where a person has to, approved. */
export function todoViews(view: View): TodoView[] {
  const chains = chainsOf(view);
  const planned = (plannedIn(view, 'TODOS') ?? []) as readonly TodoEntry[];
  return planned.flatMap((entry) => {
    const chain = chains.get(entry.id);
    return chain === undefined ? [] : [todoView(view, entry, chain)];
  });
}

function todoView(view: View, entry: TodoEntry, chain: Chain): TodoView {
  const block = blockOf(view, entry.id) ?? blockedByReview(chain);
  const state = stateOf(chain, block);
  const commit = chain.commit?.commit ?? chain.build?.commit;
  const isOver = chain.all.every(({ status }) => ENDED.has(status));
  const times = chain.all.map(({ at }) => (isOver ? at.ended : at.added) ?? at.added);
  const bad =
    chain.all.find(({ status }) => status === 'failed') ?? chain.all.find(({ status }) => status === 'skipped');
  const why = state === 'blocked' ? block?.reason : WITH_WHY.has(state) ? bad?.why : undefined;
  const reopened = countsOf(view, entry.id, chain);
  const delivered = state === 'committed' ? commit : undefined;
  return {
    todo: {
      ...{ id: entry.id, item: entry.item, title: entry.title, state },
      ...defined({
        commit: delivered,
        why,
        required_inputs: state === 'blocked' && block !== undefined ? [...block.required_inputs] : undefined,
        reopened: Object.keys(reopened).length === 0 ? undefined : reopened,
        ...notesOf(chain),
      }),
    },
    now: itemStateOf(view, state, chain),
    tasks: chain.all,
    at: Math.max(...times),
    ...defined({ block: state === 'blocked' ? block : undefined, commit: delivered }),
  };
}

const WITH_WHY: ReadonlySet<TodoState> = new Set(['failed', 'uncommitted', 'carried_over']);

function stateOf({ plan, guide, build, commit, all }: Chain, block: Block | undefined): TodoState {
  if (block !== undefined && all.some(({ status }) => status === 'failed')) return 'blocked';
  if (commit?.status === 'failed') return 'uncommitted';
  if (all.some(({ status }) => status === 'failed')) return 'failed';
  if (plan === undefined || all.some(({ status }) => status === 'cancelled')) return 'carried_over';
  if (all.some(({ status }) => !ENDED.has(status))) {
    if (isQueued({ plan, all })) return 'queued';
    return build?.status === 'done' && commit !== undefined ? 'uncommitted' : 'running';
  }
  if (plan.status === 'skipped') return 'carried_over';
  if ((commit?.commit ?? build?.commit) !== undefined && build?.status === 'done') return 'committed';
  const isDropped = guide?.status === 'skipped' || build?.status === 'skipped';
  return isDropped && !isPlanningTodo(plan) ? 'carried_over' : 'completed';
}

/** Whether its planner says that nothing is to be built. */
function isPlanningTodo({ answer }: TaskView): boolean {
  return answerIn('planned', answer)?.proposals.workflow_transition.outcome === 'complete';
}

/** A commit that failed twice waits for another sprint. */
function itemStateOf(view: View, state: TodoState, { commit }: Chain): TodoView['now'] {
  if (isTodoDone({ state })) return 'done';
  if (state === 'blocked') return 'blocked';
  const isLost = commit?.status === 'failed' && isClosedOut(view, commit.id);
  return state === 'failed' || state === 'carried_over' || isLost ? 'carried_over' : 'selected';
}

/** A rejection that ended the work, with what it waits for. */
function blockedByReview({ build }: Chain): Block | undefined {
  const last = build?.rounds.at(-1);
  if (build?.cause !== 'blocked' || last?.blocked === undefined) return undefined;
  const { required_inputs, recommended_next_step } = last.blocked;
  const by = last.by.find(({ approved }) => !approved)?.role ?? '';
  return { reason: last.feedback, role: by, required_inputs, recommended_next_step };
}

function countsOf(view: View, entry: string, { build }: Chain): Record<string, number> {
  const categories = [
    ...(build?.rounds ?? []).flatMap(({ approved, category }) =>
      approved || category === undefined ? [] : [category],
    ),
    ...reopensOf(view, entry).map(({ category }) => category),
  ];
  return Object.fromEntries(
    [...new Set(categories)].map((one) => [one, categories.filter((other) => other === one).length]),
  );
}

/** The notes of its planner. */
function notesOf({ plan }: Chain): Partial<Todo> {
  const said = answerIn('planned', plan?.answer)?.proposals;
  if (said === undefined) return {};
  return { spec_changes: said.spec_changes, iteration_note: said.iteration_note };
}
