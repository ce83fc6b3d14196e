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

/** By table: what its seal is made of. Whoever writes these rows seals them. */
export const SEALED = {
  event: 'seq, stream, type, at, cause, epoch, data',
  attempt:
    'id, run_id, task_id, number, kind, agent, runtime, epoch, session_key, request, claim_seq, claimed_at, process, spawned_at',
  message: 'id, run_id, attempt_id, seq, place, sender, recipients, type, body',
  record: 'kind, id, version, value',
} as const;

/** The same for rows that triggers seal. */
export const SEALED_BY_TRIGGER = {
  run: 'id, name, created_at, applied, driver, parent_run, parent_seq',
  application: 'run_id, cursor, seq, driver, epoch, at, answer',
  lease: 'run_id, epoch, holder, acquired_at, seen_at, released_at',
  settlement: 'attempt_id, seq, at, epoch, outcome, failure, result, digest',
  usage: 'attempt_id, input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, cost_usd',
  late_result: 'attempt_id, digest, seq',
  observation: 'attempt_id, type, seq',
  timer: 'run_id, id, due_at, set_seq, data',
  operator_command: 'id, run_id, seq, verb, data, operator, at',
} as const;

/** Makes `row_digest(…)` known to the statements of this connection. */
export function teachRowDigest(db: Database): void {
  db.function('row_digest', { deterministic: true, varargs: true }, (...fields: Field[]) => rowDigest(fields));
}

/** Rows that are not what was written, at most 20 of each table. */
export function damagedRows(db: Database): string[] {
  return Object.entries({ ...SEALED, ...SEALED_BY_TRIGGER }).flatMap(([table, fields]) =>
    db
      .prepare<[], { row: number }>(
        `SELECT rowid AS row FROM ${table} WHERE seal IS NOT row_digest(${fields}) ORDER BY rowid LIMIT 20`,
      )
      .all()
      .map(({ row }) => `row ${row} of ${table} does not match its seal`),
  );
}
