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
  store.upsert('timer', { run_id: event.stream, id }, { due_at: dueAt, set_seq: seq, data: storedJson(data) });
}

/** Due timers of all runs, the longest overdue first. */
export function dueTimers(store: Store, now: number): Timer[] {
  const sql = `SELECT ${COLUMNS} FROM timer WHERE due_at <= ? ORDER BY due_at, run_id, id`;
  return store.all<StoredTimer>(sql, now).map(({ runId, id, dueAt, data }) => {
    return { runId, id, dueAt, data: dataOf(store, id, data) };
  });
}

export function fireTimer(store: Store, lease: Lease, id: string): number | undefined {
  requireLease(store, lease);
  const { runId, epoch } = lease;
  const sql = `DELETE FROM timer WHERE run_id = ? AND id = ? AND due_at <= ? RETURNING ${COLUMNS}`;
  const row = store.one<StoredTimer>(sql, runId, id, store.clock.now());
  if (row === undefined) return undefined;
  const data = { id, dueAt: row.dueAt, set: row.setSeq, data: dataOf(store, id, row.data) };
  return appendEvent(store, { stream: runId, type: 'timer-fired', epoch, data });
}

function dataOf(store: Store, id: string, text: string): Json {
  return parseStored(store, text, `timer ${id}`);
}
