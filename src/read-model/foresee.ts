import { acceptEvent } from '../graph/decisions/accept-event.ts';
import { refuseIntervention } from '../graph/decisions/intervention-checks.ts';
import type { Board } from '../model/plan/board.ts';
import type { Intervention } from '../model/plan/intervention.ts';

/** A person's wish that is stored, and that no engine has heard yet. */
export interface Wish {
  readonly seq: number;
  readonly at: number;
  readonly by: string;
  readonly intervention: Intervention;
}

/** The board as the next engine will have it once it has heard them. */
export function foresee(board: Board, wishes: readonly Wish[]): Board {
  return wishes.reduce(
    (before, { seq, at, by, intervention }) =>
      acceptEvent(before, { seq, at, type: 'intervention', intervention, by }).board,
    board,
  );
}

/** Why this wish is not possible as the run will stand then; undefined: it is. */
export function refusalOf(
  { board, wishes }: { readonly board: Board; readonly wishes: readonly Wish[] },
  intervention: Intervention,
): string | undefined {
  return refuseIntervention(foresee(board, wishes), intervention);
}
