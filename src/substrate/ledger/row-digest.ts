import { hash } from 'node:crypto';
import type { Database } from 'better-sqlite3';

/** Enough to see damage by; it is no seal against somebody who means harm. */
const DIGEST_BYTES = 16;

export type Field = string | number | null;

/**
 * What stands beside a row, so that a bit that flips within a stored text, which SQLite takes for another text, is seen.
 * Of every field that never changes, in the order of the table.
 */
export function rowDigest(fields: readonly Field[]): Buffer {
  return hash('sha256', JSON.stringify(fields), 'buffer').subarray(0, DIGEST_BYTES);
}

/** By table: what its digest is made of. */
export const DIGESTED = {
  event: 'seq, stream, type, at, cause, epoch, data',
  attempt:
    'id, run_id, task_id, number, kind, agent, runtime, epoch, session_key, request, claim_seq, claimed_at, process, spawned_at',
  message: 'id, run_id, attempt_id, seq, place, sender, recipients, type, body',
  record: 'kind, id, version, value',
} as const;

/** Makes `row_digest(…)` known to the statements of this connection. */
export function teachRowDigest(db: Database): void {
  db.function('row_digest', { deterministic: true, varargs: true }, (...fields: Field[]) => rowDigest(fields));
}

/** Rows that are not what was written, at most 20. */
export function damagedRows(db: Database): string[] {
  return Object.entries(DIGESTED).flatMap(([table, fields]) =>
    db
      .prepare<[], { row: number }>(
        `SELECT rowid AS row FROM ${table} WHERE digest IS NOT row_digest(${fields}) ORDER BY rowid LIMIT 20`,
      )
      .all()
      .map(({ row }) => `row ${row} of ${table} does not match its digest`),
  );
}
