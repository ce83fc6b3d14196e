import type { Json } from '../../text/json.ts';
import type { Lease, Timer } from '../ports/ledger.ts';
import { appendEvent, type NewEvent } from './events.ts';
import { requireLease } from './leases.ts';
import { parseStored, storedJson, type Store } from './store.ts';

/** The fields that all events of a decision share. */
export type DecisionEvent = Required<Pick<NewEvent, 'stream' | 'cause' | 'epoch'>>;

interface StoredTimer {
  run_id: string;
  id: string;
  due_at: number;
  set_seq: number;
  data: string;
}

/** A timer that is set already gets the new time and data. */
export function setTimer(store: Store, event: DecisionEvent, timer: { id: string; dueAt: number; data: Json }): void {
  const data = { id: timer.id, dueAt: timer.dueAt, data: timer.data };
  const seq = appendEvent(store, { ...event, type: 'timer-set', data });
  store.db
    .prepare(
      `INSERT INTO timer (run_id, id, due_at, set_seq, data) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (run_id, id) DO UPDATE SET due_at = excluded.due_at, set_seq = excluded.set_seq, data = excluded.data`,
    )
    .run(event.stream, timer.id, timer.dueAt, seq, storedJson(timer.data));
}

/** Clearing a timer that is not set is recorded too: the decision was made. */
export function clearTimer(store: Store, event: DecisionEvent, id: string): void {
  store.db.prepare('DELETE FROM timer WHERE run_id = ? AND id = ?').run(event.stream, id);
  appendEvent(store, { ...event, type: 'timer-cleared', data: { id } });
}

/** Of all runs, the longest overdue first. */
export function dueTimers(store: Store, now: number): Timer[] {
  return store.db
    .prepare<[number], StoredTimer>(
      'SELECT run_id, id, due_at, set_seq, data FROM timer WHERE due_at <= ? ORDER BY due_at, run_id, id',
    )
    .all(now)
    .map((row) => toTimer(store, row));
}

/** Within a write transaction. */
export function fireTimer(store: Store, lease: Lease, id: string): number | undefined {
  requireLease(store, lease);
  const row = store.db
    .prepare<[string, string, number], StoredTimer>(
      'DELETE FROM timer WHERE run_id = ? AND id = ? AND due_at <= ? RETURNING run_id, id, due_at, set_seq, data',
    )
    .get(lease.runId, id, store.clock.now());
  if (row === undefined) return undefined;
  const timer = toTimer(store, row);
  return appendEvent(store, {
    stream: lease.runId,
    type: 'timer-fired',
    epoch: lease.epoch,
    data: { id, dueAt: timer.dueAt, set: row.set_seq, data: timer.data },
  });
}

function toTimer(store: Store, row: StoredTimer): Timer {
  return {
    runId: row.run_id,
    id: row.id,
    dueAt: row.due_at,
    data: parseStored(store, row.data, `timer ${row.id}`),
  };
}
