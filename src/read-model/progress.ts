import type { Board } from '../model/plan/board.ts';
import { isEnded } from '../graph/decisions/work-status.ts';
import { usageCountOf, type UsageCount } from './usage-count.ts';
import type { Totals } from '../substrate/ports/ledger.ts';

/** The progress of a run over all its segments, as `squad status` counts it. */
export interface RunProgress extends UsageCount {
  readonly tasks: { readonly all: number; readonly ended: number };
  /** Engine time, without parked time. */
  readonly elapsedMs: number;
}

/** `board`: undefined until the engine has read the plan. */
export function progressOf(board: Pick<Board, 'tasks'> | undefined, totals: Totals, elapsedMs: number): RunProgress {
  const all = board?.tasks.size ?? 0;
  const open = board?.tasks.open.filter((state) => !isEnded(state)).length ?? 0;
  return { tasks: { all, ended: all - open }, elapsedMs, ...usageCountOf(totals) };
}
