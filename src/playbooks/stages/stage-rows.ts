import type { StageView } from '../../model/plan.ts';
import { defined } from '../../text/defined.ts';
import type { Placed, StageProgress } from './stage-progress.ts';

export function isRejected({ state: { status, cause } }: Pick<Placed, 'state'>): boolean {
  return status === 'failed' && (cause === 'rejected' || cause === 'blocked');
}

interface Times {
  readonly startedAt?: number;
  readonly endedAt?: number;
}

/** Counts only the current pass, so that the times of successive stages add up to no more than the run's. */
export function timesOf(
  progress: Pick<StageProgress, 'tasks' | 'all' | 'state'>,
  spanOf: (task: Placed['state']) => { readonly from?: number | undefined; readonly until: number | undefined },
): Times {
  const spans = current(progress).map((one) => spanOf(one.state));
  const starts = spans.flatMap(({ from }) => from ?? []);
  const isOver = progress.state !== 'waiting' && progress.state !== 'live';
  const ends = isOver ? spans.flatMap(({ until }) => until ?? []) : [];
  return defined({
    startedAt: starts.length === 0 ? undefined : Math.min(...starts),
    endedAt: ends.length === 0 ? undefined : Math.max(...ends),
  });
}

/** The tasks of the current pass, or of the one before while it has none. */
export function current({ tasks, all }: Pick<StageProgress, 'tasks' | 'all'>): readonly Placed[] {
  return tasks.length === 0 ? all : tasks;
}

export function rowOf(
  { all, state }: Pick<StageProgress, 'all' | 'state'>,
  about: Pick<StageView, 'id' | 'title' | 'by' | 'round'>,
  times: Times,
): StageView {
  return { ...about, state, tasks: idsOf(all), ...times };
}

function idsOf(tasks: readonly Placed[]): string[] {
  return tasks.map(({ state: { id } }) => id);
}
