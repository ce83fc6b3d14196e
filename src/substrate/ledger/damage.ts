import Database from 'better-sqlite3';
import type { Db } from './open-db.ts';
import { sealedColumns, teachRowDigest } from './row-digest.ts';
import { makeTables, SCHEMA } from './schema.ts';
import { guarded, readSnapshot } from './transactions.ts';
import { createQueries } from './query.ts';

/** The first problem that SQLite's own check finds; undefined: none. */
export function fileDamage(db: Db): string | undefined {
  const found = guarded(db, () => String(db.pragma('integrity_check(1)', { simple: true })));
  return found === 'ok' ? undefined : found;
}

/**
 * Damage that SQLite's own check misses: of the schema, else of an index, else of rows. Looks at one instant, because an
 * engine may write meanwhile.
 */
export function contentDamage(db: Db): string[] {
  return readSnapshot(db, () => {
    const structure = damagedSchema(db) ?? damagedIndex(db);
    return structure === undefined ? damagedRows(db) : [structure];
  });
}

/** The first difference between the schema and that of a new file. A bit may flip in the schema's text too. */
function damagedSchema(db: Db): string | undefined {
  const model = new Database(':memory:');
  try {
    teachRowDigest(model);
    makeTables(model);
    const [wanted, found] = [schemaOf(model), schemaOf(db)];
    const names = new Set([...wanted.keys(), ...found.keys()]);
    const wrong = [...names].find((name) => wanted.get(name) !== found.get(name));
    return wrong === undefined ? undefined : `${wrong} is not what schema ${SCHEMA} says`;
  } finally {
    model.close();
  }
}

function schemaOf(db: Db): Map<string, string | null> {
  const sql = "SELECT type || ' ' || name AS name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%'";
  const rows = db.prepare<[], { name: string; sql: string | null }>(sql).all();
  return new Map(rows.map((row) => [row.name, row.sql]));
}

interface StoredIndex {
  readonly name: string;
  readonly table: string;
  /** null: SQLite made it for a key of the table. */
  readonly sql: string | null;
}

/** An index without the rows of its table, which `integrity_check` misses if the index is partial or its page is empty. */
function damagedIndex(db: Db): string | undefined {
  const all = "SELECT name, tbl_name AS 'table', sql FROM sqlite_schema WHERE type = 'index'";
  const wrong = db
    .prepare<[], StoredIndex>(all)
    .all()
    .find((index) => rowsBy(db, index, `INDEXED BY ${index.name}`) !== rowsBy(db, index, 'NOT INDEXED'));
  return wrong === undefined ? undefined : `index ${wrong.name} does not have the rows of ${wrong.table}`;
}

/** With the sum of the row ids, because SQLite takes a bare count(*) from the smallest index. */
function rowsBy(db: Db, { table, sql }: StoredIndex, by: string): string | undefined {
  const part = /\sWHERE\s.+$/is.exec(sql ?? '')?.[0] ?? '';
  return db
    .prepare<[], { rows: string }>(`SELECT count(*) || ' ' || total(rowid) AS rows FROM ${table} ${by}${part}`)
    .get()?.rows;
}

/** Rows that do not match their seals, at most 20 of each table. */
function damagedRows(db: Db): string[] {
  const sealed = `SELECT tables.name FROM sqlite_schema AS tables JOIN pragma_table_info(tables.name) AS columns
    WHERE tables.type = 'table' AND columns.name = 'seal' ORDER BY tables.rowid`;
  const queries = createQueries(db);
  return queries.all<{ name: string }>(sealed).flatMap(({ name: table }) => {
    const wrong = `seal IS NOT row_digest(${sealedColumns(db, table)})`;
    const sql = `SELECT rowid AS row FROM ${table} WHERE ${wrong} ORDER BY rowid LIMIT 20`;
    return queries.all<{ row: number }>(sql).map(({ row }) => `row ${row} of ${table} does not match its seal`);
  });
}
