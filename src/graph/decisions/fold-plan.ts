import { assertNever } from '../../model/assert-never.ts';
import type { Board, RunFacts } from '../../model/plan/board.ts';
import type { PlanEntry } from '../../model/plan/entry.ts';
import { acceptEvent } from './accept-event.ts';
import { applyChanges } from './apply-changes.ts';
import { applyWork } from './apply-work.ts';
import { createBoard, moveClock } from './board.ts';
import { setClockBack } from './set-back.ts';

/** The board as the entries tell it, in application order. Effects and news are not made again. */
export function foldPlan(facts: RunFacts, entries: readonly PlanEntry[]): Board {
  return entries.reduce(foldEntry, createBoard(facts));
}

export function foldEntry(board: Board, entry: PlanEntry): Board {
  switch (entry.entry) {
    case 'work':
      return applyWork(board, entry.task, entry.event, entry).board;
    case 'event':
      return acceptEvent(board, entry.event).board;
    case 'changes':
      return applyChanges(board, entry.changes, entry).board;
    case 'clock':
      return entry.setBack === undefined ? moveClock(board, entry) : setClockBack(board, entry.setBack, entry);
    default:
      return assertNever(entry);
  }
}
