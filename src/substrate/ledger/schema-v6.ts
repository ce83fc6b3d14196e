import type { Database } from 'better-sqlite3';
import { sealedColumns } from './row-digest.ts';
import { sealByTrigger } from './schema-v2.ts';

/** When a lease was last renewed, by a clock that the next engine can read, too, and that no person sets. */
export function addBootMoments(db: Database): void {
  db.exec(`
    DROP TRIGGER lease_sealed_on_insert;
    DROP TRIGGER lease_sealed_on_update;
    ALTER TABLE lease ADD COLUMN seen_boot TEXT;
    ALTER TABLE lease ADD COLUMN seen_ms INTEGER CHECK ((seen_ms IS NULL) = (seen_boot IS NULL))`);
  db.exec(`UPDATE lease SET seal = row_digest(${sealedColumns(db, 'lease')})`);
  sealByTrigger(db, ['lease']);
}
