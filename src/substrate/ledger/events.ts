import { badInput } from '../../model/errors.ts';
import { defined } from '../../text/defined.ts';
import type { Json } from '../../text/json.ts';
import { WORKSPACE_STREAM, type LedgerEvent } from '../../model/ledger-event.ts';
import { rowDigest } from './row-digest.ts';
import { corruptDatabase } from './sqlite-errors.ts';
import { parseStored, storedJson, type Store } from './store.ts';

/** Types that only the ledger writes, each with its row. */
const LEDGER_EVENTS = [
  'run-created',
  'run-forked',
  'lease-acquired',
  'attempt-claimed',
  'claim-refused',
  'attempt-spawned',
  'attempt-settled',
  'late-result',
  'timer-set',
  'timer-cleared',
  'timer-fired',
  'operator-command',
  'record-written',
  'mail-sent',
  'mail-refused',
  'mail-registered',
  'mail-accepted',
  'mail-void',
  'mail-retried',
  'mail-dead',
  'mail-overdue',
  'mail-task-overdue',
  'mail-closed',
] as const;

export interface NewEvent {
  readonly stream: string;
  readonly type: string;
  readonly data: Json;
  readonly cause?: number;
  readonly epoch?: number;
  /** When it happened in another run; absent: now. */
  readonly at?: number | undefined;
}

/** Appends one event in the caller's write transaction, which keeps `seq` free of gaps. Returns its seq. */
export function appendEvent(store: Store, event: NewEvent): number {
  const seq = lastSeq(store) + 1;
  const { stream, type, cause = null, epoch = null, at = store.clock.now() } = event;
  const row = { seq, stream, type, at, cause, epoch, data: storedJson(event.data) };
  store.insert('event', { ...row, seal: rowDigest(Object.values(row)) });
  return seq;
}

/** `stream`: only events of this one. 0: there is no event. */
export function lastSeq(store: Store, stream?: string): number {
  const found =
    stream === undefined
      ? store.value<number | null>('SELECT max(seq) FROM event')
      : store.value<number | null>('SELECT max(seq) FROM event WHERE stream = ?', stream);
  return found ?? 0;
}

export function refuseLedgerType(type: string): void {
  if (type !== '' && !LEDGER_EVENTS.some((known) => known === type)) return;
  throw badInput(`"${type}" is not a type that may be recorded from outside.`);
}

export function refuseUnknownStream(store: Store, stream: string): void {
  if (stream === WORKSPACE_STREAM) return;
  if (store.has('SELECT 1 FROM run WHERE id = ?', stream)) return;
  throw badInput(`There is no run with the id ${stream}.`, 'See `squad runs`.');
}

interface EventRow extends Omit<LedgerEvent, 'data'> {
  readonly data: string;
  readonly seal: Buffer | null;
}

const COLUMNS = 'SELECT seq, stream, type, at, cause, epoch, data, seal FROM event';

interface EventFilter {
  readonly stream?: string;
  readonly after?: number;
  readonly limit?: number;
  readonly types?: readonly string[];
}

export function readEvents(store: Store, { stream, after = 0, limit = -1, types }: EventFilter): LedgerEvent[] {
  const ofStream = stream === undefined ? '' : 'stream = @stream AND';
  const ofTypes = types === undefined ? '' : 'AND type IN (SELECT value FROM json_each(@types))';
  const sql = `${COLUMNS} WHERE ${ofStream} seq > @after ${ofTypes} ORDER BY seq LIMIT @limit`;
  const bound = defined({ after, limit, stream, types: types && JSON.stringify(types) });
  return store.all<EventRow>(sql, bound).map((row) => toEvent(store, row));
}

/** From the end of the stream, so the length of a run does not count. */
export function newestEvent(store: Store, stream: string, types: readonly string[]): LedgerEvent | undefined {
  const ofTypes = 'type IN (SELECT value FROM json_each(@types))';
  const sql = `${COLUMNS} WHERE stream = @stream AND ${ofTypes} ORDER BY seq DESC LIMIT 1`;
  const row = store.one<EventRow>(sql, { stream, types: JSON.stringify(types) });
  return row && toEvent(store, row);
}

/** Every reader finds a bit that flipped. */
function requireSeal(store: Store, { seq, stream, type, at, cause, epoch, data, seal }: EventRow): void {
  if (seal === null || !rowDigest([seq, stream, type, at, cause, epoch, data]).equals(seal)) {
    throw corruptDatabase(store.db.name, `event ${seq} does not match its seal.`);
  }
}

function toEvent(store: Store, row: EventRow): LedgerEvent {
  requireSeal(store, row);
  const { seq, stream, type, at, cause, epoch, data } = row;
  return { seq, stream, type, at, cause, epoch, data: parseStored(store, data, `event ${seq}`) };
}
