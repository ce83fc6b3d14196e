import Database from 'better-sqlite3';
import { isJsonObject, type Json } from '../../src/text/json.ts';

export interface StoredEvent {
  readonly seq: number;
  readonly type: string;
  readonly at: number;
  /** The input that it was decided on. */
  readonly cause: number | null;
  readonly data: Json;
}

/** The events of a ledger, by its table alone: this checkout's code may refuse the ledger of another build. */
export function readEvents(path: string): readonly StoredEvent[] {
  try {
    const database = new Database(path, { readonly: true });
    try {
      const rows = database.prepare('SELECT seq, type, at, cause, data FROM event ORDER BY seq').all() as {
        seq: number;
        type: string;
        at: number;
        cause: number | null;
        data: string;
      }[];
      return rows.map((row) => ({ ...row, data: JSON.parse(row.data) as Json }));
    } finally {
      database.close();
    }
  } catch {
    // It is being made.
    return [];
  }
}

interface AttemptEvent {
  readonly at: number;
  readonly task: string;
  readonly attempt: string;
}

export function attemptsOf(events: readonly StoredEvent[], type: string): readonly AttemptEvent[] {
  return events.flatMap(({ at, data, ...event }) => {
    if (event.type !== type || !isJsonObject(data)) return [];
    const { taskId, attemptId } = data;
    return typeof taskId === 'string' && typeof attemptId === 'string'
      ? [{ at, task: taskId, attempt: attemptId }]
      : [];
  });
}
