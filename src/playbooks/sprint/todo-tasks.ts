import type { TaskView, View } from '../../model/plan.ts';
import { stageTasks } from '../stages/stage-records.ts';

type Board = Pick<View, 'task' | 'record' | 'records'>;

/** The tasks of one todo, as far as the list has them for it. */
export interface Chain {
  readonly plan?: TaskView;
  readonly guide?: TaskView;
  readonly build?: TaskView;
  readonly commit?: TaskView;
  readonly all: readonly TaskView[];
}

const PARTS: Readonly<Record<string, Exclude<keyof Chain, 'all'>>> = {
  PLAN_TODO: 'plan',
  GUIDE: 'guide',
  BUILD: 'build',
  COMMIT: 'commit',
};

/** The tasks of each todo, by its id, in order. */
export function chainsOf(view: Board): ReadonlyMap<string, Chain> {
  const chains = new Map<string, Chain>();
  for (const { stage, entry, added, task: id } of stageTasks(view)) {
    const part = PARTS[stage];
    const task = view.task(id);
    if (part === undefined || entry === undefined || added === true || task === undefined) continue;
    const before = chains.get(entry) ?? { all: [] };
    chains.set(entry, { ...before, [part]: task, all: [...before.all, task] });
  }
  return chains;
}

export function chainOf(view: Board, entry: string): Chain {
  return chainsOf(view).get(entry) ?? { all: [] };
}

export function todosOf(view: Board): string[] {
  return [...chainsOf(view).keys()];
}

export function stageTasksOf(view: Board, stage: string): TaskView[] {
  return stageTasks(view).flatMap((one) => (one.stage === stage ? (view.task(one.task) ?? []) : []));
}

/** Whether no agent has begun with it. */
export function isQueued({ plan }: Chain): boolean {
  return plan !== undefined && (plan.status === 'waiting' || plan.status === 'ready') && plan.attempts === 0;
}
