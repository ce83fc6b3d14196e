import type { TaskView, View } from '../../model/plan.ts';
import type { Json } from '../../text/json.ts';
import { stageTasks } from '../stages/stage-records.ts';

type Board = Pick<View, 'task' | 'record' | 'records'>;

/** The tasks of one todo by their stages, in order, as far as the list has them for it. */
export type Chain = ReadonlyMap<string, TaskView>;

/** The chain of each todo, by its id. */
export function chainsOf(view: Board): ReadonlyMap<string, Chain> {
  const chains = new Map<string, Map<string, TaskView>>();
  for (const { stage, entry, added, task: id } of stageTasks(view)) {
    const task = view.task(id);
    if (entry === undefined || added === true || task === undefined) continue;
    const chain = chains.get(entry) ?? new Map<string, TaskView>();
    chains.set(entry, chain.set(stage, task));
  }
  return chains;
}

export function chainOf(view: Board, entry: string): Chain {
  return chainsOf(view).get(entry) ?? new Map();
}

export function stageTasksOf(view: Board, stage: string): TaskView[] {
  return stageTasks(view).flatMap((one) => (one.stage === stage ? (view.task(one.task) ?? []) : []));
}

/** The last answer that counts. */
export function stageAnswer(view: Board, stage: string): Json | undefined {
  return stageTasksOf(view, stage).findLast(({ status }) => status === 'done')?.answer;
}

/** Whether no agent has begun with it. */
export function isQueued(chain: Chain): boolean {
  const plan = chain.get('PLAN_TODO');
  return (plan?.status === 'waiting' || plan?.status === 'ready') && plan.attempts === 0;
}
