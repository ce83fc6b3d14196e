import type { Board } from '../model/plan/board.ts';
import { utcTime } from '../text/time.ts';

/**
 * Why no turn may start any more: the objective's deadline has passed. undefined: it has not, there is none, or a person let the
 * run work past it. It follows from the run's definition and the wall clock, so no crash or wait can miss it.
 */
export function passedDeadline(board: Pick<Board, 'facts' | 'pastDeadline'>, now: number): string | undefined {
  const { deadline } = board.facts.objective;
  if (deadline === undefined || board.pastDeadline !== null || now < deadline) return undefined;
  return `the deadline ${utcTime(deadline)} has passed`;
}
