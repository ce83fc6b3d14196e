import Database from 'better-sqlite3';
import { isSafeSqlite } from './sqlite-version.ts';

/** The SQLite that squad brings with it, and whether it may open a live ledger. Opens no file. */
export function sqliteLibrary(): { readonly version: string; readonly safe: boolean } {
  const db = new Database(':memory:');
  try {
    const version =
      db.prepare<[], { version: string }>('SELECT sqlite_version() AS version').get()?.version ?? 'unknown';
    return { version, safe: isSafeSqlite(version) };
  } finally {
    db.close();
  }
}
