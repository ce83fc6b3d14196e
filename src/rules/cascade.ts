import type { Board } from '../model/plan/board.ts';
import { cascadesOf } from '../model/plan/cascade.ts';
import { statusOf } from './work-status.ts';

/** Tasks of the board that were cancelled untouched because of a task that they need, by the id of that task. */
export function boardCascades(board: Pick<Board, 'tasks'>): ReadonlyMap<string, readonly string[]> {
  const states = [...board.tasks.values()].toSorted((a, b) => a.order - b.order);
  return cascadesOf(
    states.map((state) => ({
      id: state.task.id,
      needs: state.task.needs,
      status: statusOf(state, board),
      touched: state.work.attempts > 0 || state.work.override !== null,
    })),
  );
}
