import type { Store } from '../store.ts';
import { readAwaited } from './presence.ts';
import { isOnline, receivedAt } from './receive-clock.ts';
import { DELIVERY_COLUMNS, type StoredDelivery } from './rows.ts';

/** In transit, with no turn whose prompt holds it: what that reads it has read, however late. */
const UNREAD = "state IN ('waiting', 'leased') AND held = 0 AND handed_to IS NULL";

/** Epoch ms of the next moment at which a clock of this run rings; null: none does by itself. */
export function nextDue(store: Store, runId: string): number | null {
  const now = store.clock.now();
  const first = (sql: string): number[] => {
    const at = store.db.prepare<[string], { at: number | null }>(sql).get(runId)?.at ?? null;
    return at === null ? [] : [at];
  };
  const moments = [
    ...first(`SELECT min(expires_at) AS at FROM mail_delivery WHERE run_id = ? AND ${UNREAD}`),
    ...first('SELECT min(answer_at) AS at FROM mail_delivery WHERE run_id = ? AND answer_at IS NOT NULL'),
    ...first("SELECT min(deadline) AS at FROM mail_task WHERE run_id = ? AND status = 'open' AND deadline IS NOT NULL"),
    ...ackMoments(store, runId, now),
  ];
  return moments.length === 0 ? null : Math.min(...moments);
}

export function expired(store: Store, runId: string, limit: number): StoredDelivery[] {
  return store.db
    .prepare<[string, number, number], StoredDelivery>(
      `SELECT ${DELIVERY_COLUMNS} FROM mail_delivery WHERE run_id = ? AND ${UNREAD} AND expires_at <= ?
       ORDER BY expires_at, mail_seq LIMIT ?`,
    )
    .all(runId, store.clock.now(), limit);
}

/** Whose recipient could have read it and has not. */
export function unacknowledged(store: Store, runId: string, limit: number): StoredDelivery[] {
  const now = store.clock.now();
  return readAwaited(store, runId)
    .filter(({ clock, due }) => due !== null && due <= receivedAt(clock, now))
    .flatMap(({ address, clock }) =>
      store.db
        .prepare<[string, string, number, number], StoredDelivery>(
          `SELECT ${DELIVERY_COLUMNS} FROM mail_delivery WHERE run_id = ? AND recipient = ? AND due <= ?
           ORDER BY due, mail_seq LIMIT ?`,
        )
        .all(runId, address, receivedAt(clock, now), limit),
    )
    .slice(0, limit);
}

export function unanswered(store: Store, runId: string, limit: number): StoredDelivery[] {
  return store.db
    .prepare<[string, number, number], StoredDelivery>(
      `SELECT ${DELIVERY_COLUMNS} FROM mail_delivery WHERE run_id = ? AND answer_at <= ? ORDER BY answer_at, mail_seq LIMIT ?`,
    )
    .all(runId, store.clock.now(), limit);
}

export interface OverdueTask {
  readonly id: string;
  readonly mail_seq: number;
}

export function overdueTasks(store: Store, runId: string, limit: number): OverdueTask[] {
  return store.db
    .prepare<[string, number, number], OverdueTask>(
      `SELECT id, mail_seq FROM mail_task WHERE run_id = ? AND status = 'open' AND deadline <= ? AND mail_seq IS NOT NULL
       ORDER BY deadline, id LIMIT ?`,
    )
    .all(runId, store.clock.now(), limit);
}

/** One for each recipient: when the first of its letters is due, if it goes on being there. */
function ackMoments(store: Store, runId: string, now: number): number[] {
  return readAwaited(store, runId).flatMap(({ clock, due }) => {
    if (due === null) return [];
    const left = due - receivedAt(clock, now);
    if (left <= 0) return [now];
    return isOnline(clock, now) ? [now + left] : [];
  });
}
