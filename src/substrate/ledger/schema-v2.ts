import type { Database } from 'better-sqlite3';
import { DIGESTED } from './row-digest.ts';

const TABLES = ['event', 'attempt', 'message', 'record'] as const;

/** Every row whose text nothing else repeats gets a digest beside it; those that are there are taken as they are. */
export function addRowDigests(db: Database): void {
  db.exec('DROP TRIGGER event_never_changes');
  for (const table of TABLES) {
    db.exec(`ALTER TABLE ${table} ADD COLUMN digest BLOB`);
    db.exec(`UPDATE ${table} SET digest = row_digest(${DIGESTED[table]})`);
  }
  db.exec(`CREATE TRIGGER event_never_changes BEFORE UPDATE ON event
    BEGIN SELECT raise(ABORT, 'an event never changes'); END`);
}
