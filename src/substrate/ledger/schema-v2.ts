import type { Database } from 'better-sqlite3';
import { sealedColumns } from './row-digest.ts';

/** The writer seals these rows. */
const SEALED = ['event', 'attempt', 'message', 'record'];

/** Triggers seal these rows. */
const SEALED_BY_TRIGGER = [
  ...['run', 'application', 'lease', 'settlement', 'usage', 'late_result', 'observation', 'timer', 'operator_command'],
];

/** Every row gets a seal beside it; those that are there are taken as they are. */
export function sealRows(db: Database): void {
  db.exec('DROP TRIGGER event_never_changes');
  for (const table of [...SEALED, ...SEALED_BY_TRIGGER]) {
    db.exec(`ALTER TABLE ${table} ADD COLUMN seal BLOB`);
    db.exec(`UPDATE ${table} SET seal = row_digest(${sealedColumns(db, table)})`);
  }
  db.exec(`CREATE TRIGGER event_never_changes BEFORE UPDATE ON event
    BEGIN SELECT raise(ABORT, 'an event never changes'); END`);
  sealByTrigger(db, SEALED_BY_TRIGGER);
}

export function sealByTrigger(db: Database, tables: readonly string[]): void {
  for (const table of tables) {
    for (const change of ['INSERT', 'UPDATE']) {
      db.exec(`CREATE TRIGGER ${table}_sealed_on_${change.toLowerCase()} AFTER ${change} ON ${table}
        BEGIN UPDATE ${table} SET seal = row_digest(${sealedColumns(db, table)}) WHERE rowid = NEW.rowid; END`);
    }
  }
}
