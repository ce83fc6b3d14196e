import { copyFileSync, lstatSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';

/** All rows of a ledger as SQLite itself reads them, each as text; undefined: it reads none, or the file is no database by its head. */
export function rowsIn(state: string): ReadonlySet<string> | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'squad-rows-'));
  try {
    for (const end of ['', '-wal'])
      if (lstatSync(join(state, `squad.db${end}`), { throwIfNoEntry: false })?.isFile() === true)
        copyFileSync(join(state, `squad.db${end}`), join(folder, `copy.db${end}`));
    const copy = join(folder, 'copy.db');
    return readFileSync(copy, 'latin1').startsWith('SQLite format 3\0') ? readAll(copy) : undefined;
  } catch {
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readAll(path: string): ReadonlySet<string> {
  const db = new Database(path);
  try {
    db.function('row_digest', { varargs: true }, () => null);
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all() as string[];
    const rows = tables.flatMap((table) =>
      db
        .prepare(`SELECT * FROM "${table}"`)
        .all()
        .map((row) => `${table} ${JSON.stringify(row)}`),
    );
    return new Set(rows);
  } finally {
    db.close();
  }
}
