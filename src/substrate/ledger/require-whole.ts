import { contentDamage, fileDamage } from './damage.ts';
import { sizeOf } from './database-file.ts';
import { ledgerPath, openLedgerFile } from './ledger-file.ts';
import { requireBodies } from './mail/bodies.ts';
import { closeDb, schemaVersion } from './open-db.ts';
import { corruptDatabase, databaseError } from './sqlite-errors.ts';
import { createStore } from './store.ts';
import { guarded } from './transactions.ts';

/** Up to this size, all rows of a ledger are checked within a fraction of a second. */
export const MOST_CHECKED_BYTES = 16 * 1024 * 1024;
/** A command that only looks must not take longer with each run that there was; every row that it reads is checked anyway. */
const MOST_LOOKED_BYTES = 1024 * 1024;

/**
 * Throws `database-corrupt` for damage to the ledger, and for a message of these runs whose body is not there as it was sent: no
 * engine would start on it. The rows of a large ledger are not looked at: an engine and `squad db check` do that.
 */
export function requireWhole(directory: string, runIds: readonly string[], { rows }: { readonly rows: boolean }): void {
  const path = ledgerPath(directory);
  const db = openLedgerFile(path, { readOnly: true });
  try {
    if (schemaVersion(db) === 0) return;
    const isSmall = sizeOf(path) + sizeOf(`${path}-wal`) <= MOST_LOOKED_BYTES;
    const damage = rows && isSmall ? (fileDamage(db) ?? guarded(db, () => contentDamage(db)[0])) : undefined;
    if (damage !== undefined) throw corruptDatabase(path, `the database is damaged (${damage}).`);
    const store = createStore(db, { now: () => 0 });
    for (const runId of runIds) requireBodies(store, runId);
  } catch (error) {
    throw databaseError(path, error);
  } finally {
    closeDb(db);
  }
}
