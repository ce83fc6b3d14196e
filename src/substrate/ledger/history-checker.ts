import type { LedgerHistory } from './history.ts';
import {
  settledNotOnce,
  sessionOverlaps,
  attemptNumbers,
  capsExceeded,
  usageWithoutSettlement,
  lateApplied,
  observedTwice,
  differingSettlements,
} from './history-attempt-rules.ts';
import {
  seqGaps,
  wrongCauses,
  backwardEpochs,
  rowsWithoutEvent,
  appliedTwice,
  differingRuns,
  wrongTimers,
} from './history-event-rules.ts';
import { ackOrder, mailGaps, undelivered, wrongAcks, wronglyHeld } from './history-mail-rules.ts';
import type { Violation } from './history-tools.ts';

export { HISTORY_RULES, type Violation } from './history-tools.ts';

/**
 * Judges a whole ledger from outside: every promise of the `Ledger` port that can be seen in what is stored. Runs after
 * every test that kills something. Knows nothing of how the ledger keeps its promises.
 */
export function checkHistory(history: LedgerHistory): Violation[] {
  return [
    ...seqGaps(history),
    ...wrongCauses(history),
    ...backwardEpochs(history),
    ...rowsWithoutEvent(history),
    ...settledNotOnce(history),
    ...sessionOverlaps(history),
    ...attemptNumbers(history),
    ...appliedTwice(history),
    ...capsExceeded(history),
    ...usageWithoutSettlement(history),
    ...lateApplied(history),
    ...observedTwice(history),
    ...differingSettlements(history),
    ...wrongTimers(history),
    ...differingRuns(history),
    ...mailGaps(history),
    ...undelivered(history),
    ...wrongAcks(history),
    ...wronglyHeld(history),
    ...ackOrder(history),
  ];
}
