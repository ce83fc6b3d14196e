import { SquadError } from '../../model/errors.ts';
import type { Lease, LeaseSegment } from '../ports/ledger.ts';
import { appendEvent } from './events.ts';
import { readParked } from './parked.ts';
import { requireRun } from './runs.ts';
import type { Store } from './store.ts';

interface StoredLease {
  epoch: number;
  holder: string;
  acquired_at: number;
  seen_at: number;
  released_at: number | null;
}

/** Within a write transaction. Whoever held the run before is fenced by the commit. */
export function acquireLease(store: Store, runId: string, holder: string): Lease {
  requireRun(store, runId);
  const former = newest(store, runId);
  const epoch = (former?.epoch ?? 0) + 1;
  const now = store.clock.now();
  store.db
    .prepare('INSERT INTO lease (run_id, epoch, holder, acquired_at, seen_at) VALUES (?, ?, ?, ?, ?)')
    .run(runId, epoch, holder, now, now);
  appendEvent(store, {
    stream: runId,
    type: 'lease-acquired',
    epoch,
    data: { holder, epoch, takenOver: former !== undefined && former.released_at === null ? former.holder : null },
  });
  return { runId, epoch };
}

/** Throws `lease-fenced` unless this is the newest epoch of its run and was not given back. */
export function requireLease(store: Store, lease: Lease): void {
  const current = newest(store, lease.runId);
  if (current !== undefined && current.epoch === lease.epoch && current.released_at === null) return;
  const other =
    current === undefined || current.epoch === lease.epoch ? 'it was given back' : `${current.holder} took over`;
  throw new SquadError({
    code: 'lease-fenced',
    message: `This process no longer drives run ${lease.runId}: ${other}. Nothing was written.`,
    next: `Look at it with \`squad status ${lease.runId}\`.`,
  });
}

export function renewLease(store: Store, lease: Lease): void {
  requireLease(store, lease);
  store.db
    .prepare('UPDATE lease SET seen_at = max(seen_at, ?) WHERE run_id = ? AND epoch = ?')
    .run(store.clock.now(), lease.runId, lease.epoch);
}

/** A lease that another holder has taken since, or that was given back before, is left alone. */
export function releaseLease(store: Store, lease: Lease): void {
  const current = newest(store, lease.runId);
  if (current === undefined || current.epoch !== lease.epoch || current.released_at !== null) return;
  const now = store.clock.now();
  store.db
    .prepare('UPDATE lease SET released_at = ?, seen_at = max(seen_at, ?) WHERE run_id = ? AND epoch = ?')
    .run(now, now, lease.runId, lease.epoch);
}

/** Who drove a run, and when: oldest first. */
export function leaseSegments(store: Store, runId: string): LeaseSegment[] {
  const parked = readParked(store, runId);
  return store.db
    .prepare<[string], StoredLease>(
      'SELECT epoch, holder, acquired_at, seen_at, released_at FROM lease WHERE run_id = ? ORDER BY epoch',
    )
    .all(runId)
    .map((row) => ({
      epoch: row.epoch,
      holder: row.holder,
      acquiredAt: row.acquired_at,
      seenAt: row.seen_at,
      releasedAt: row.released_at,
      parked: parked.get(row.epoch) ?? null,
    }));
}

function newest(store: Store, runId: string): StoredLease | undefined {
  return store.db
    .prepare<[string], StoredLease>(
      'SELECT epoch, holder, acquired_at, seen_at, released_at FROM lease WHERE run_id = ? ORDER BY epoch DESC LIMIT 1',
    )
    .get(runId);
}
