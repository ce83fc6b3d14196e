import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MOST_BACKUPS } from '../../model/keep.ts';

const LEDGER = 'squad.db';
const OF_A_RUN = /^run-(\d{8}T\d+Z)\.db$/;
const OF_A_PERSON = /^squad-(\d{8}T\d+Z)\.db$/;
/** Characters of a time with its ms. */
const STAMP_LENGTH = 18;
const TIME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})$/;

/** The folder for copies of the ledger: `squad-…` by people, `run-…` by runs that ended. */
export function backupFolder(path: string): string {
  return join(dirname(path), 'backups');
}

/** The folder with the files that a copy of the ledger names, each where it is below the ledger's folder. */
export function filesOf(backup: string): string {
  return `${backup}.files`;
}

/** Where a person's copy goes. */
export function personsBackup(path: string, now: number): string {
  const newest = newestTime(path);
  const second = now - (now % 1_000);
  const stamp = second > newest ? stampOf(second).replace(/\d{3}Z$/, 'Z') : stampOf(Math.max(now, newest + 1));
  return join(backupFolder(path), `squad-${stamp}.db`);
}

/** Where the copy at a run's end goes. */
export function runsBackup(path: string, now: number): string {
  return join(backupFolder(path), `run-${stampOf(Math.max(now, newestTime(path) + 1))}.db`);
}

/**
 * Epoch ms in the name of the newest copy; 0: there is none. A new copy is named for a later time, whatever the clock says: names
 * order the copies, and if a clock that was set back made the newest one the oldest, the next end of a run would delete it.
 */
function newestTime(path: string): number {
  const times = copiesOf(path).map((name) =>
    Date.parse(timeOf(name).padEnd(STAMP_LENGTH, '0').replace(TIME, '$1-$2-$3T$4:$5:$6.$7Z')),
  );
  return Math.max(0, ...times.filter((time) => !Number.isNaN(time)));
}

/** Copies of this file, from its folder, newest last. */
export function backupsOf(path: string): readonly string[] {
  const byTime = copiesOf(path).toSorted((a, b) => (timeOf(a) < timeOf(b) ? -1 : 1));
  return byTime.map((name) => join('backups', name));
}

/** Only the ledger has copies. */
function copiesOf(path: string): readonly string[] {
  return basename(path) === LEDGER ? namesIn(backupFolder(path)).filter((name) => timeOf(name) !== '') : [];
}

/** The backup to restore first; undefined if there is none. */
export function newestBackup(path: string): string | undefined {
  const name = backupsOf(path).at(-1);
  return name === undefined ? undefined : join(dirname(path), name);
}

/** Names of the copies by runs but for the newest, oldest first. */
export function oldBackups(path: string, kept: number): readonly string[] {
  return namesIn(backupFolder(path))
    .filter((name) => OF_A_RUN.test(name))
    .toSorted()
    .slice(0, -kept);
}

/** Keeps the newest copies by runs, and removes those that a crash left unfinished. */
export function dropOldBackups(path: string, kept = MOST_BACKUPS): void {
  const folder = backupFolder(path);
  const names = namesIn(folder);
  const old = oldBackups(path, kept);
  const halfMade = names.filter((name) => /^run-\d{8}T\d+Z\.db\.\d+\.new$/.test(name));
  const alone = names.filter((name) => name.endsWith('.files') && !names.includes(name.slice(0, -'.files'.length)));
  const files = [...old.map(filesOf), ...alone];
  for (const name of [...old, ...halfMade, ...files]) rmSync(join(folder, name), { recursive: true, force: true });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // The folder is missing or is a file, so it holds no backup.
    return [];
  }
}

/** The time in a copy's name. Seconds and milliseconds sort together as text. Empty if the file is not a copy of the ledger. */
function timeOf(name: string): string {
  return (OF_A_RUN.exec(name) ?? OF_A_PERSON.exec(name))?.[1]?.replace('Z', '') ?? '';
}

/** `20261120T190000000Z` */
function stampOf(at: number): string {
  return new Date(at).toISOString().replaceAll(/[-:.]/g, '');
}
