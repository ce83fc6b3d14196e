import { reviewCountsOf } from '../graph/decisions/failed-reviews.ts';
import { decidedSchema, RUN_EVENTS, type ReviewCount } from '../model/run.ts';
import type { Playbooks } from '../model/plan.ts';
import { hasEnded } from '../model/run-state.ts';
import type { LeaseSegment, Ledger, RunRow } from '../substrate/ports/ledger.ts';
import { findRun, isDriven, type LockedBy } from './read-run.ts';
import { readEvent } from './replay-plan.ts';
import { findEnd, summarizeRun, type RunSummary } from './run-summary.ts';
import { usageCountOf, type UsageCount } from './usage-count.ts';

/** What statistics count of one run. */
export interface RunFigures extends Pick<RunSummary, 'playbook' | 'state' | 'elapsedMs' | 'usage'> {
  /** From its start to its end by the clock; null: it is not over. */
  readonly wallMs: number | null;
  readonly turns: UsageCount['turns'];
  readonly reviews: readonly ReviewCount[];
  /** An engine left it before its end although nothing made it wait: it was killed, or a person ended or drained it. */
  readonly interrupted: boolean;
}

/** undefined: the run was never defined. Reads the whole history only of an unfinished run. */
export function readFigures(
  ledger: Ledger,
  row: RunRow,
  lockedBy: LockedBy | null,
  now: number,
  playbooks: Playbooks = {},
): RunFigures | undefined {
  const summary = summarizeRun(ledger, row, lockedBy, now, playbooks);
  if (summary === undefined) return undefined;
  const { playbook, state, elapsedMs, usage, createdAt } = summary;
  const segments = ledger.segments(row.id);
  const isEnded = hasEnded(state);
  const endedAt = isEnded ? (segments.at(-1)?.releasedAt ?? null) : null;
  return {
    ...{ playbook, state, elapsedMs, usage },
    wallMs: endedAt === null ? null : Math.max(0, endedAt - createdAt),
    turns: usageCountOf(ledger.totals(row.id)).turns,
    reviews: findEnd(ledger, row)?.reviews ?? countReviews(ledger, row, lockedBy),
    interrupted: wasInterrupted(ledger, row, isDriven(segments, lockedBy) ? segments.slice(0, -1) : segments),
  };
}

function countReviews(ledger: Ledger, { id }: RunRow, lockedBy: LockedBy | null): readonly ReviewCount[] {
  const reading = findRun(ledger, id, lockedBy);
  return reading === undefined ? [] : reviewCountsOf(reading.board);
}

/** `left`: the segments that are over. */
function wasInterrupted(ledger: Ledger, { id }: RunRow, left: readonly LeaseSegment[]): boolean {
  if (left.some(({ releasedAt }) => releasedAt === null)) return true;
  const events = ledger.events({ stream: id, types: [RUN_EVENTS.decided] });
  const last = new Map(events.map((event) => [event.epoch, event]));
  return left.some(({ epoch }) => {
    const event = last.get(epoch);
    if (event === undefined) return true;
    const { next, because } = readEvent(event, decidedSchema);
    // A run that waits, is at a limit or asks ends its segment itself.
    return next === 'start' || next === 'wait' || because === 'drained';
  });
}
