import Database from 'better-sqlite3';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { git } from './git.ts';
import { snapshot } from './snapshot.ts';
import { stateOf } from './state.ts';

/** Everything of one run that a fork of it must leave as it is: its rows, its refs, its folders and its files. */
export interface Footprint {
  readonly rows: string;
  readonly refs: string;
  readonly files: Readonly<Record<string, string>>;
}

interface Place {
  readonly root: string;
  readonly repository: string;
}

/** Hashes and lists of what a run of this name has now. `root` holds the state folder `state`. */
export function footprintOf({ root, repository }: Place, name: string): Footprint {
  const db = new Database(join(stateOf(repository), 'squad.db'), { readonly: true });
  try {
    const id = db.prepare<[string], string>('SELECT id FROM run WHERE name = ?').pluck().get(name) ?? '';
    const tables = db
      .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      .pluck()
      .all();
    const hash = createHash('sha256');
    for (const table of tables) {
      const where = ownerOf(db, table);
      if (where === undefined) continue;
      const rows = db.prepare<[{ id: string }]>(`SELECT * FROM "${table}" WHERE ${where} ORDER BY rowid`).all({ id });
      hash.update(`${table}\n${JSON.stringify(rows)}\n`);
    }
    const below = ['runs', 'turns'].map((folder) => join(stateOf(repository), folder));
    const own = [join(below[0] ?? '', id), ...foldersOf(root, name)];
    return {
      rows: hash.digest('hex'),
      refs: git(repository, 'for-each-ref', `refs/squad/${name}/`, `refs/heads/squad/${name}`),
      files: Object.assign({}, ...own.filter((path) => existsSync(path)).map((path) => snapshot(path))),
    };
  } finally {
    db.close();
  }
}

/** SQL for the rows of a table that are a run's; undefined: they belong to no run. */
function ownerOf(db: Database.Database, table: string): string | undefined {
  const columns = db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(table);
  if (table === 'run') return 'id = @id';
  if (columns.includes('run_id')) return 'run_id = @id';
  if (columns.includes('stream')) return 'stream = @id';
  if (columns.includes('attempt_id')) return 'attempt_id IN (SELECT id FROM attempt WHERE run_id = @id)';
  return undefined;
}

function foldersOf(root: string, name: string): string[] {
  const state = join(root, 'state', 'squad');
  if (!existsSync(state)) return [];
  return Object.keys(snapshot(state)).filter(
    (path) => path.slice(state.length).split('/').length === 3 && path.endsWith(`/${name}`),
  );
}
