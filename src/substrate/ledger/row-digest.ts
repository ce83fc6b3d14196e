import { hash } from 'node:crypto';
import type { Database } from 'better-sqlite3';

/** Enough to find accidental damage. It does not protect against an attacker. */
const DIGEST_BYTES = 16;

export type Field = string | number | null;

/** The seal of a row, made of its fields in the order of the table. It shows a flipped bit, which SQLite takes for another text. */
export function rowDigest(fields: readonly Field[]): Buffer {
  return hash('sha256', JSON.stringify(fields), 'buffer').subarray(0, DIGEST_BYTES);
}

/** The state of an attempt is not sealed. */
export const SEALED_OF_ATTEMPT =
  'id, run_id, task_id, number, kind, agent, runtime, epoch, session_key, request, claim_seq, claimed_at, process, spawned_at';

/** The columns that the seal of a table covers, in their order. */
export function sealedColumns(db: Database, table: string): string {
  if (table === 'attempt') return SEALED_OF_ATTEMPT;
  const columns = db.pragma(`table_info(${table})`) as { name: string }[];
  return columns.flatMap(({ name }) => (name === 'seal' ? [] : [name])).join(', ');
}

/** Triggers that seal each row of these tables when it is written. */
export function sealByTrigger(db: Database, tables: readonly string[]): void {
  for (const table of tables) {
    for (const change of ['INSERT', 'UPDATE']) {
      db.exec(`CREATE TRIGGER ${table}_sealed_on_${change.toLowerCase()} AFTER ${change} ON ${table}
        BEGIN UPDATE ${table} SET seal = row_digest(${sealedColumns(db, table)}) WHERE rowid = NEW.rowid; END`);
    }
  }
}

/** Makes `row_digest(…)` known to the statements of this connection. */
export function teachRowDigest(db: Database): void {
  db.function('row_digest', { deterministic: true, varargs: true }, (...fields: Field[]) => rowDigest(fields));
}
