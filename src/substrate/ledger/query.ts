import type { Database } from 'better-sqlite3';

// Only the caller knows which columns its SQL names, as with better-sqlite3's own `prepare`.
/* oxlint-disable typescript/no-unnecessary-type-parameters */

type Value = string | number | Buffer | null;

/** A value for each `?`, in their order, or one object with a value for each name (`@run`). */
type Bound = Value | Readonly<Record<string, Value>>;

type Row = Readonly<Record<string, Value>>;

/** The statements of the ledger. `R` and `V`: the columns, as the SQL names them. */
export interface Queries {
  all<R>(sql: string, ...values: readonly Bound[]): R[];
  /** The first row; undefined: there is none. */
  one<R>(sql: string, ...values: readonly Bound[]): R | undefined;
  /** The first column of the first row; undefined: there is no row. */
  value<V>(sql: string, ...values: readonly Bound[]): V | undefined;
  /** Whether there is a row. */
  has(sql: string, ...values: readonly Bound[]): boolean;
  run(sql: string, ...values: readonly Bound[]): void;
  insert(table: string, row: Row): void;
  /** As `insert`; a row that has this key already gets the other columns. */
  upsert(table: string, key: Row, rest: Row): void;
}

export function createQueries(db: Database): Queries {
  const queries: Queries = {
    all: <R>(sql: string, ...values: readonly Bound[]) => db.prepare<Bound[], R>(sql).all(...values),
    one: <R>(sql: string, ...values: readonly Bound[]) => db.prepare<Bound[], R>(sql).get(...values),
    value: <V>(sql: string, ...values: readonly Bound[]) => {
      const row = queries.one<Readonly<Record<string, V>>>(sql, ...values);
      return row === undefined ? undefined : Object.values(row)[0];
    },
    has: (sql, ...values) => queries.one(sql, ...values) !== undefined,
    run: (sql, ...values) => void db.prepare(sql).run(...values),
    insert: (table, row) => queries.run(insertOf(table, row), ...Object.values(row)),
    upsert: (table, key, rest) => {
      const row = { ...key, ...rest };
      const changes = Object.keys(rest).map((column) => `${column} = excluded.${column}`);
      const onConflict = `ON CONFLICT (${Object.keys(key).join(', ')}) DO UPDATE SET ${changes.join(', ')}`;
      queries.run(`${insertOf(table, row)} ${onConflict}`, ...Object.values(row));
    },
  };
  return queries;
}

function insertOf(table: string, row: Row): string {
  const columns = Object.keys(row);
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
}
