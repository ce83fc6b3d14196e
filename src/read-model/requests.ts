import { acceptEvent } from '../graph/decisions/accept-event.ts';
import { refuseIntervention } from '../graph/decisions/intervention-checks.ts';
import type { Board } from '../model/plan/board.ts';
import type { Intervention } from '../model/plan/intervention.ts';

/** A person's command to a run, as it is stored. */
export interface OperatorRequest {
  readonly seq: number;
  readonly at: number;
  readonly by: string;
  readonly intervention: Intervention;
}

/** The board once an engine has applied these requests. */
export function predictBoard(board: Board, requests: readonly OperatorRequest[]): Board {
  return requests.reduce(
    (before, { seq, at, by, intervention }) =>
      acceptEvent(before, { seq, at, type: 'intervention', intervention, by }).board,
    board,
  );
}

/** Why the run cannot do this once its pending requests are applied; undefined if it can. */
export function requestRefusal(
  { board, pendingRequests }: { readonly board: Board; readonly pendingRequests: readonly OperatorRequest[] },
  intervention: Intervention,
): string | undefined {
  return refuseIntervention(predictBoard(board, pendingRequests), intervention);
}
