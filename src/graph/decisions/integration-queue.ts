import type { Board } from '../../model/plan/board.ts';
import { isBranchBlocked } from './gate.ts';

/** Whose turn it is in the one queue: whoever came first, once nobody is on the way. */
export function decideIntegration(board: Pick<Board, 'tasks' | 'branch'>): string | undefined {
  if (isBranchBlocked(board.branch)) return undefined;
  const inLine = board.tasks.open.flatMap(({ task, order, work }) => {
    const { phase } = work;
    const queued = phase.at === 'in-queue';
    const underWay = phase.at === 'integrating' || phase.at === 'verifying' || phase.at === 'advancing';
    return queued || underWay ? [{ id: task.id, since: phase.since, order, underWay }] : [];
  });
  if (inLine.some((one) => one.underWay)) return undefined;
  return inLine.toSorted((a, b) => a.since - b.since || a.order - b.order)[0]?.id;
}
