import { isDeepStrictEqual } from 'node:util';
import { WORKSPACE_STREAM } from '../../model/ledger-event.ts';
import type { LedgerRecord, NewRecord } from '../ports/records.ts';
import { appendEvent } from './events.ts';
import { rowDigest } from './row-digest.ts';
import { corruptDatabase } from './sqlite-errors.ts';
import { parseStored, storedJson, type Store } from './store.ts';

export const RECORD_RULES = {
  /** Each record is what its newest event says, and its events count its versions. */
  'record-differs': `
    WITH said AS (
      SELECT data ->> 'kind' AS kind, data ->> 'id' AS id, data ->> 'version' AS version, json(data -> 'value') AS value, seq,
        row_number() OVER (PARTITION BY data ->> 'kind', data ->> 'id' ORDER BY seq) AS place, stream
      FROM event WHERE type = 'record-written'),
    last AS (SELECT kind, id, version, value, max(seq) AS seq FROM said GROUP BY kind, id)
    SELECT 'event ' || seq || ': version ' || coalesce(version, 'none') || ' of ' || kind || ' ' || id || ' at place ' || place
    FROM said WHERE version IS NOT place OR stream <> 'workspace'
    UNION ALL
    SELECT 'the record ' || coalesce(record.kind, last.kind) || ' ' || coalesce(record.id, last.id) || ' is '
      || iif(record.id IS NULL, 'gone', 'not as its events say')
    FROM record FULL JOIN last ON record.kind = last.kind AND record.id = last.id
    WHERE record.seq IS NOT last.seq OR record.version IS NOT last.version OR json(record.value) IS NOT last.value`,
};

/** Call it in a write transaction. undefined: the record has another version than `after`. */
export function writeRecord(store: Store, { kind, id, value, after }: NewRecord): LedgerRecord | undefined {
  const before = findRecord(store, kind, id);
  const was = before?.version ?? 0;
  if (after !== undefined && after !== was) return undefined;
  const version = was + 1;
  const seq = appendEvent(store, {
    stream: WORKSPACE_STREAM,
    type: 'record-written',
    data: { kind, id, version, value },
  });
  const text = storedJson(value);
  store.upsert('record', { kind, id }, { version, value: text, seq });
  return { kind, id, version, value, seq };
}

/** Call it in a write transaction. Writes nothing if this is its value. */
export function updateRecord(store: Store, { kind, id, value }: Omit<NewRecord, 'after'>): void {
  const before = findRecord(store, kind, id);
  if (before === undefined || !isDeepStrictEqual(before.value, value)) writeRecord(store, { kind, id, value });
}

interface Row extends Omit<LedgerRecord, 'value'> {
  readonly value: string;
  readonly seal: Buffer | null;
}

const COLUMNS = 'SELECT kind, id, version, value, seq, seal FROM record';

export function findRecord(store: Store, kind: string, id: string): LedgerRecord | undefined {
  const row = store.one<Row>(`${COLUMNS} WHERE kind = ? AND id = ?`, kind, id);
  return row && toRecord(store, row);
}

/** In the order in which they were first written. */
export function listRecords(store: Store, kind: string): LedgerRecord[] {
  return store.all<Row>(`${COLUMNS} WHERE kind = ? ORDER BY rowid`, kind).map((row) => toRecord(store, row));
}

function toRecord(store: Store, { kind, id, version, value, seq, seal }: Row): LedgerRecord {
  if (seal === null || !rowDigest([kind, id, version, value, seq]).equals(seal))
    throw corruptDatabase(store.db.name, `the record ${kind} ${id} does not match its seal.`);
  return { kind, id, version, value: parseStored(store, value, `the record ${kind} ${id}`), seq };
}
