import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const LEDGER = 'squad.db';
/** Of those that engines make by themselves. */
const KEPT = 3;
const OF_A_RUN = /^run-(\d{8}T\d+Z)\.db$/;
const OF_A_PERSON = /^squad-(\d{8}T\d+Z)\.db$/;

/** Backups stand beside the file: `squad.db.backup-v1` is from before the step to version 2. */
export function backupPath(path: string, version: number): string {
  return `${path}.backup-v${version}`;
}

/** Where copies of the ledger go: those of people are called `squad-…`, those of runs that ended `run-…`. */
export function backupFolder(path: string): string {
  return join(dirname(path), 'backups');
}

export function personsBackup(path: string, at: number): string {
  return join(backupFolder(path), `squad-${stampOf(at).replace(/\d{3}Z$/, 'Z')}.db`);
}

export function runsBackup(path: string, at: number): string {
  return join(backupFolder(path), `run-${stampOf(at)}.db`);
}

/** Backups of this file, from its folder: from before each migration, newest version last; then copies, newest last. */
export function backupsOf(path: string): readonly string[] {
  const prefix = `${basename(path)}.backup-v`;
  const ofMigrations = namesIn(dirname(path))
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .sort((a, b) => Number(a.slice(prefix.length)) - Number(b.slice(prefix.length)));
  // Whatever else is kept here has none.
  const copies = basename(path) === LEDGER ? namesIn(backupFolder(path)).filter((name) => timeOf(name) !== '') : [];
  const byTime = copies.toSorted((a, b) => (timeOf(a) < timeOf(b) ? -1 : 1));
  return [...ofMigrations, ...byTime.map((name) => join('backups', name))];
}

/** The one to put back first; undefined: there is none. */
export function newestBackup(path: string): string | undefined {
  const name = backupsOf(path).at(-1);
  return name === undefined ? undefined : join(dirname(path), name);
}

/** Of the copies that runs left, the three newest stay; what a crash left half made goes. */
export function dropOldBackups(path: string): void {
  const folder = backupFolder(path);
  const names = namesIn(folder);
  const old = names
    .filter((name) => OF_A_RUN.test(name))
    .toSorted()
    .slice(0, -KEPT);
  const halfMade = names.filter((name) => /^run-\d{8}T\d+Z\.db\.\d+\.new$/.test(name));
  for (const name of [...old, ...halfMade]) rmSync(join(folder, name), { force: true });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Not there, or no folder: nothing in it could be put back.
    return [];
  }
}

/** Stamps of seconds and of milliseconds sort with each other as text; empty: no copy of the ledger. */
function timeOf(name: string): string {
  return (OF_A_RUN.exec(name) ?? OF_A_PERSON.exec(name))?.[1]?.replace('Z', '') ?? '';
}

/** `20261120T190000000Z` */
function stampOf(at: number): string {
  return new Date(at).toISOString().replaceAll(/[-:.]/g, '');
}
