import type { Database } from 'better-sqlite3';
import { SEALED, SEALED_BY_TRIGGER } from './row-digest.ts';

/** Tables that schema 4 drops. */
const DROPPED = {
  message: 'id, run_id, attempt_id, seq, place, sender, recipients, type, body',
  record: 'kind, id, version, value',
} as const;

/** Every row gets a seal beside it; those that are there are taken as they are. */
export function sealRows(db: Database): void {
  db.exec('DROP TRIGGER event_never_changes');
  for (const [table, fields] of Object.entries({ ...SEALED, ...DROPPED, ...SEALED_BY_TRIGGER })) {
    db.exec(`ALTER TABLE ${table} ADD COLUMN seal BLOB`);
    db.exec(`UPDATE ${table} SET seal = row_digest(${fields})`);
  }
  db.exec(`CREATE TRIGGER event_never_changes BEFORE UPDATE ON event
    BEGIN SELECT raise(ABORT, 'an event never changes'); END`);
  sealByTrigger(db, SEALED_BY_TRIGGER);
}

export function sealByTrigger(db: Database, tables: Readonly<Record<string, string>>): void {
  for (const [table, fields] of Object.entries(tables)) {
    for (const change of ['INSERT', 'UPDATE']) {
      db.exec(`CREATE TRIGGER ${table}_sealed_on_${change.toLowerCase()} AFTER ${change} ON ${table}
        BEGIN UPDATE ${table} SET seal = row_digest(${fields}) WHERE rowid = NEW.rowid; END`);
    }
  }
}
