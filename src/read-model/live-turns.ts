import { liveRequests, type LiveRequest } from '../graph/decisions/work-requests.ts';
import type { Board } from '../model/plan/board.ts';

/** A turn that is not over in the plan, which names it without its run. */
function liveTurn(board: Board | undefined, id: string): LiveRequest | undefined {
  const name = id.slice(id.lastIndexOf('.') + 1);
  return board === undefined ? undefined : liveRequests(board).find(({ attempt }) => attempt === name);
}

/** The account that a turn's own stands in for; undefined: none. */
export function insteadOfIn(board: Board | undefined, id: string): string | undefined {
  return liveTurn(board, id)?.state.insteadOf;
}
