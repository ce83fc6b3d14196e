import type { Json } from '../../text/json.ts';
import { appendEvent } from './events.ts';
import { parseStored, storedJson, type Store } from './store.ts';
import type { DecisionEvent } from './timers.ts';

interface StoredRecord {
  id: string;
  version: number;
  value: string;
}

/** Within a write transaction. null deletes; the version goes on, so that a record made again is not taken for the old. */
export function putRecord(store: Store, event: DecisionEvent, record: { kind: string; id: string; value: Json }): void {
  const { kind, id, value } = record;
  const version =
    store.db
      .prepare<[string, string, string | null], { version: number }>(
        `INSERT INTO record (kind, id, version, value) VALUES (?, ?, 1, ?)
         ON CONFLICT (kind, id) DO UPDATE SET version = version + 1, value = excluded.value RETURNING version`,
      )
      .get(kind, id, value === null ? null : storedJson(value))?.version ?? 1;
  store.db
    .prepare('UPDATE record SET seal = row_digest(kind, id, version, value) WHERE kind = ? AND id = ?')
    .run(kind, id);
  appendEvent(store, { ...event, type: 'record-put', data: { kind, id, version, value } });
}

export function readRecord(store: Store, kind: string, id: string): { version: number; value: Json } | undefined {
  const row = store.db
    .prepare<[string, string], StoredRecord>(
      'SELECT id, version, value FROM record WHERE kind = ? AND id = ? AND value IS NOT NULL',
    )
    .get(kind, id);
  if (row === undefined) return undefined;
  return { version: row.version, value: parseStored(store, row.value, `record ${kind} ${id}`) };
}

/** By id. */
export function readRecords(store: Store, kind: string): { id: string; version: number; value: Json }[] {
  return store.db
    .prepare<[string], StoredRecord>(
      'SELECT id, version, value FROM record WHERE kind = ? AND value IS NOT NULL ORDER BY id',
    )
    .all(kind)
    .map((row) => ({
      id: row.id,
      version: row.version,
      value: parseStored(store, row.value, `record ${kind} ${row.id}`),
    }));
}
