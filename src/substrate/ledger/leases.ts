import { SquadError } from '../../model/errors.ts';
import type { BootMoment, Lease, LeaseSegment } from '../ports/ledger.ts';
import { appendEvent } from './events.ts';
import { requireRun } from './runs.ts';
import type { Store } from './store.ts';

/** `seen_at` is `acquired_at` plus the time that the holder has worked. */
const SEGMENT = `SELECT epoch, holder, acquired_at AS acquiredAt, seen_at - acquired_at AS workedMs,
  seen_boot AS boot, seen_ms AS bootMs, released_at AS releasedAt FROM lease WHERE run_id = ? ORDER BY epoch`;

/** Call it in a write transaction. The commit fences the former holder. */
export function acquireLease(store: Store, runId: string, holder: string): Lease {
  requireRun(store, runId);
  const former = newest(store, runId);
  const epoch = (former?.epoch ?? 0) + 1;
  const now = store.clock.now();
  store.insert('lease', { run_id: runId, epoch, holder, acquired_at: now, seen_at: now });
  appendEvent(store, {
    stream: runId,
    type: 'lease-acquired',
    epoch,
    data: { holder, epoch, takenOver: former?.releasedAt === null ? former.holder : null },
  });
  return { runId, epoch };
}

/** Throws `lease-fenced` unless this is the newest lease of its run and was not released. */
export function requireLease(store: Store, lease: Lease): void {
  const current = newest(store, lease.runId);
  if (current !== undefined && current.epoch === lease.epoch && current.releasedAt === null) return;
  const other =
    current === undefined || current.epoch === lease.epoch ? 'it was released' : `${current.holder} took over`;
  throw new SquadError({
    code: 'lease-fenced',
    message: `This process no longer drives run ${lease.runId}: ${other}. Nothing was written.`,
    next: `Look at it with \`squad status ${lease.runId}\`.`,
  });
}

export function renewLease(store: Store, lease: Lease, workedMs: number, seen?: BootMoment): void {
  requireLease(store, lease);
  const renew = `UPDATE lease SET seen_at = max(seen_at, acquired_at + ?), seen_boot = coalesce(?, seen_boot),
    seen_ms = coalesce(?, seen_ms)
    WHERE run_id = ? AND epoch = ?`;
  store.run(renew, workedMs, seen?.boot ?? null, seen?.ms ?? null, lease.runId, lease.epoch);
}

/** False: it is not the current lease, or was released before. Then nothing changes. */
export function releaseLease(store: Store, lease: Lease, workedMs = 0): boolean {
  const current = newest(store, lease.runId);
  if (current === undefined || current.epoch !== lease.epoch || current.releasedAt !== null) return false;
  renewLease(store, lease, workedMs);
  const release = 'UPDATE lease SET released_at = ? WHERE run_id = ? AND epoch = ?';
  store.run(release, store.clock.now(), lease.runId, lease.epoch);
  return true;
}

/** Oldest first. */
export function leaseSegments(store: Store, runId: string): LeaseSegment[] {
  return store.all<StoredSegment>(SEGMENT, runId).map(toSegment);
}

function newest(store: Store, runId: string): LeaseSegment | undefined {
  const row = store.one<StoredSegment>(`${SEGMENT} DESC LIMIT 1`, runId);
  return row === undefined ? undefined : toSegment(row);
}

type StoredSegment = Omit<LeaseSegment, 'seen'> & { readonly boot: string | null; readonly bootMs: number | null };

function toSegment({ boot, bootMs, ...row }: StoredSegment): LeaseSegment {
  return { ...row, seen: boot === null || bootMs === null ? null : { boot, ms: bootMs } };
}
