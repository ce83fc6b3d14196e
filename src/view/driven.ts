import type { Ledger, LeaseSegment } from '../substrate/ports/ledger.ts';

/** The holder of the workspace's lock. `since` in epoch ms. */
export interface LockedBy {
  readonly since: number;
}

/** Whether an engine is at work. An unreleased lease that is older than the lock belongs to a dead engine. */
export function isDriven(segments: readonly LeaseSegment[], lockedBy: LockedBy | null): boolean {
  const last = segments.at(-1);
  return last !== undefined && lockedBy !== null && last.releasedAt === null && last.acquiredAt >= lockedBy.since;
}

/** The newest run with a running engine; undefined if there is none. */
export function drivenRun(ledger: Ledger, lockedBy: LockedBy | null): string | undefined {
  if (lockedBy === null) return undefined;
  return ledger.runs().findLast(({ id }) => isDriven(ledger.segments(id), lockedBy))?.id;
}
