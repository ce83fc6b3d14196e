import type { Board } from '../../model/plan/board.ts';
import type { Errand, Work } from '../../model/plan/work.ts';
import { errandsOf } from '../decisions/work-errands.ts';

/** An errand that is live, as the board tells it. */
export interface LiveErrand {
  readonly task: string;
  readonly attempt: string;
  readonly review: string | null;
  readonly errand: Errand;
  readonly state: Extract<Errand['state'], { at: 'live' }>;
  readonly work: Work;
}

export function liveErrandsOf(board: Board): LiveErrand[] {
  const live: LiveErrand[] = [];
  for (const { task, work } of board.tasks.open) {
    for (const { review, errand } of errandsOf(work)) {
      const { state } = errand;
      if (state.at === 'live') live.push({ task: task.id, attempt: state.attempt, review, errand, state, work });
    }
  }
  return live;
}

/** Attempts that the plan wants stopped, with the reason. */
export function unwantedAttempts(board: Board): { attempt: string; why: string }[] {
  const stopped = liveErrandsOf(board)
    .filter(({ state }) => state.stop !== null)
    .map(({ attempt, state }) => ({ attempt, why: state.wall ?? 'no sign of work' }));
  const leaving = board.tasks.open
    .filter(({ work }) => work.leaving.length > 0)
    .flatMap(({ work }) =>
      work.leaving.map(({ attempt }) => ({
        attempt,
        why: work.phase.at === 'stopping' ? work.phase.why : 'it is not needed any more',
      })),
    );
  return [...stopped, ...leaving];
}
