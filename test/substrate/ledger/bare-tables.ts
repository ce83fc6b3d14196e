import Database from 'better-sqlite3';
import { createQueries, type Queries } from '../../../src/substrate/ledger/query.ts';
import { teachIsReached } from '../../../src/substrate/ledger/ledger-file.ts';
import { teachRowDigest } from '../../../src/substrate/ledger/row-digest.ts';
import { makeTables } from '../../../src/substrate/ledger/schema.ts';

type Rows = readonly Readonly<Record<string, string | number | null>>[];

/** Tables with the ledger's columns and none of its constraints, in memory. A field is its column's name in camel case. */
export function bareTables(content: Readonly<Record<string, Rows>>): Queries {
  const model = new Database(':memory:');
  teachRowDigest(model);
  makeTables(model);
  const db = new Database(':memory:');
  teachIsReached(db);
  const queries = createQueries(db);
  for (const [table, rows] of Object.entries(content)) {
    const columns = model.pragma(`table_info(${table})`) as { name: string; type: string }[];
    db.exec(`CREATE TABLE ${table} (${columns.map(({ name, type }) => `${name} ${type}`).join(', ')})`);
    for (const row of rows) {
      const fields = Object.entries(row).map(([name, value]) => [
        name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        value,
      ]);
      queries.insert(table, Object.fromEntries(fields) as Record<string, string | number | null>);
    }
  }
  model.close();
  return queries;
}
