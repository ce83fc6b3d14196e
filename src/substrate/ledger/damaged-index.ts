import type { Database } from 'better-sqlite3';

interface StoredIndex {
  readonly name: string;
  readonly table: string;
  /** null: SQLite made it for a key of the table. */
  readonly sql: string | null;
}

/**
 * An index that does not have the rows of its table, as one has not whose page was overwritten by another one; undefined:
 * none. `integrity_check` counts no partial index, and takes an empty page of any kind for an empty index. Throws what
 * SQLite says of a page that it cannot use.
 */
export function damagedIndex(db: Database): string | undefined {
  const all = "SELECT name, tbl_name AS 'table', sql FROM sqlite_schema WHERE type = 'index'";
  const wrong = db
    .prepare<[], StoredIndex>(all)
    .all()
    .find((index) => rowsBy(db, index, `INDEXED BY ${index.name}`) !== rowsBy(db, index, 'NOT INDEXED'));
  return wrong === undefined ? undefined : `index ${wrong.name} does not have the rows of ${wrong.table}`;
}

/** The sum too: a bare count(*) is counted by whatever index is the smallest. */
function rowsBy(db: Database, { table, sql }: StoredIndex, by: string): string | undefined {
  const part = /\sWHERE\s.+$/is.exec(sql ?? '')?.[0] ?? '';
  return db
    .prepare<[], { rows: string }>(`SELECT count(*) || ' ' || total(rowid) AS rows FROM ${table} ${by}${part}`)
    .get()?.rows;
}
