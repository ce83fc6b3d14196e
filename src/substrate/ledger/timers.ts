import type { Json } from '../../text/json.ts';
import type { Lease, Timer } from '../ports/ledger.ts';
import { appendEvent, type NewEvent } from './events.ts';
import { requireLease } from './leases.ts';
import { parseStored, storedJson, type Store } from './store.ts';

/** The fields that all events of a decision share. */
export type DecisionEvent = Required<Pick<NewEvent, 'stream' | 'cause' | 'epoch'>>;

interface StoredTimer extends Omit<Timer, 'data'> {
  readonly setSeq: number;
  readonly data: string;
}

const COLUMNS = 'run_id AS runId, id, due_at AS dueAt, set_seq AS setSeq, data';

/** A timer that is set already gets the new time and data. */
export function setTimer(store: Store, event: DecisionEvent, timer: { id: string; dueAt: number; data: Json }): void {
  const { id, dueAt, data } = timer;
  const seq = appendEvent(store, { ...event, type: 'timer-set', data: { id, dueAt, data } });
  store.db
    .prepare(
      `INSERT INTO timer (run_id, id, due_at, set_seq, data) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (run_id, id) DO UPDATE SET due_at = excluded.due_at, set_seq = excluded.set_seq, data = excluded.data`,
    )
    .run(event.stream, id, dueAt, seq, storedJson(data));
}

/** Due timers of all runs, the longest overdue first. */
export function dueTimers(store: Store, now: number): Timer[] {
  const sql = `SELECT ${COLUMNS} FROM timer WHERE due_at <= ? ORDER BY due_at, run_id, id`;
  return store.db
    .prepare<[number], StoredTimer>(sql)
    .all(now)
    .map(({ runId, id, dueAt, data }) => ({ runId, id, dueAt, data: dataOf(store, id, data) }));
}

export function fireTimer(store: Store, lease: Lease, id: string): number | undefined {
  requireLease(store, lease);
  const { runId, epoch } = lease;
  const sql = `DELETE FROM timer WHERE run_id = ? AND id = ? AND due_at <= ? RETURNING ${COLUMNS}`;
  const row = store.db.prepare<[string, string, number], StoredTimer>(sql).get(runId, id, store.clock.now());
  if (row === undefined) return undefined;
  const data = { id, dueAt: row.dueAt, set: row.setSeq, data: dataOf(store, id, row.data) };
  return appendEvent(store, { stream: runId, type: 'timer-fired', epoch, data });
}

function dataOf(store: Store, id: string, text: string): Json {
  return parseStored(store, text, `timer ${id}`);
}
