import Database from 'better-sqlite3';

/** First release with the fix of the WAL-reset bug, which corrupted databases that several processes wrote. */
const FIRST_SAFE = [3, 51, 3] as const;
/** Published and taken back. */
const WITHDRAWN = '3.52.0';

/** Whether a library of this version may open a live database in WAL mode. Anything that is no version is unsafe. */
export function isSafeSqlite(version: string): boolean {
  const match = /^(\d+)\.(\d+)\.(\d+)$/.exec(version);
  if (match === null || version === WITHDRAWN) return false;
  const parts = match.slice(1).map(Number);
  for (const [index, least] of FIRST_SAFE.entries()) {
    const part = parts[index] ?? 0;
    if (part !== least) return part > least;
  }
  return true;
}

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
