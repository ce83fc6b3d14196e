import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Database } from 'better-sqlite3';
import { failpoint } from '../failpoint.ts';
import { syncFile } from '../files/sync.ts';
import { backupPath } from './backup-files.ts';
import { SCHEMA_V1 } from './schema-v1.ts';
import { sealRows } from './schema-v2.ts';
import { addMailbox } from './schema-v3.ts';
import { SCHEMA_V4 } from './schema-v4.ts';
import { countMicros } from './schema-v5.ts';
import { addBootMoments } from './schema-v6.ts';
import { guarded, write } from './transactions.ts';

/** Step n of the list (from 0) brings a file from schema n to n + 1. A published step never changes. */
export type Migration = (db: Database) => void;

export const MIGRATIONS: readonly Migration[] = [
  (db) => db.exec(SCHEMA_V1),
  sealRows,
  addMailbox,
  (db) => db.exec(SCHEMA_V4),
  countMicros,
  addBootMoments,
];

export function schemaVersion(db: Database): number {
  return guarded(db, () => Number(db.pragma('user_version', { simple: true })));
}

/** One transaction a step, after a backup; a new file in one transaction. An old file needs the workspace lock. */
export function migrate(db: Database, migrations: readonly Migration[] = MIGRATIONS): void {
  const first = schemaVersion(db);
  if (first === 0) {
    step(db, 0, migrations);
    return;
  }
  if (first < migrations.length) backUp(db, first);
  for (let version = first; version < migrations.length; version += 1) {
    step(db, version, migrations.slice(version, version + 1));
  }
}

function step(db: Database, from: number, migrations: readonly Migration[]): void {
  failpoint('migration.before-step');
  write(db, () => {
    // Another process that opened the same new file may have been faster.
    if (schemaVersion(db) !== from) return;
    for (const migration of migrations) migration(db);
    db.pragma(`user_version = ${from + migrations.length}`);
  });
  failpoint('migration.after-step');
}

/** The copy is complete under its final name or absent. It replaces the copy of an earlier try. */
function backUp(db: Database, version: number): void {
  const path = backupPath(db.name, version);
  const temporary = `${path}.new`;
  guarded(db, () => {
    rmSync(temporary, { force: true });
    closeSync(openSync(temporary, 'wx', 0o600));
    db.prepare('VACUUM INTO ?').run(temporary);
    const file = openSync(temporary, 'r+');
    fsyncSync(file);
    closeSync(file);
    renameSync(temporary, path);
    syncFile(dirname(path));
  });
  failpoint('migration.after-backup');
}
