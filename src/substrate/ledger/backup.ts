import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { SquadError } from '../../model/errors.ts';
import { makeSynced, syncFile } from '../system/files/sync.ts';
import { dropOldBackups, filesOf, runsBackup } from './backup-files.ts';
import { contentDamage, fileDamage } from './damage.ts';
import { sizeOf } from './database-file.ts';
import { openLedgerFile } from './ledger-file.ts';
import { MOST_CHECKED_BYTES } from './require-whole.ts';
import { closeDb, type Db } from './open-db.ts';
import { corruptDatabase, databaseError } from './sqlite-errors.ts';
import { guarded } from './transactions.ts';
import { errorCode } from '../../model/storage-error.ts';
import { bodyFiles } from './mail/bodies.ts';
import { createStore } from './store.ts';

/** Copy in one step: SQLite restarts a copy in several steps whenever another process writes. */
const ALL_PAGES = 2 ** 30;

/** Copies a ledger in use to a new file, and the files that it names beside it. Returns its bytes. Throws `usage` if the file exists, `database-corrupt` for damage. */
export async function backUpLedger(path: string, target: string): Promise<number> {
  return copyLedger(path, target, { checkRows: true, isWhole: true });
}

/**
 * The copy at the end of a run; keeps the three newest. It does not check each row of a large ledger, which would take long, and has
 * no private files of the checkout, which are deleted with their run.
 */
export async function backUpAfterRun(path: string, at: number): Promise<void> {
  await copyLedger(path, runsBackup(path, at), { checkRows: sizeOf(path) <= MOST_CHECKED_BYTES, isWhole: false });
  dropOldBackups(path);
}

interface Manner {
  readonly checkRows: boolean;
  readonly isWhole: boolean;
}

async function copyLedger(path: string, target: string, { checkRows, isWhole }: Manner): Promise<number> {
  refuseExisting(target);
  const temporary = `${target}.${process.pid}.new`;
  const db = openLedgerFile(path, { readOnly: true });
  try {
    refuseDamage(db, checkRows);
    makeSynced(dirname(target));
    closeSync(openSync(temporary, 'wx', 0o600));
    await db.backup(temporary, { progress: () => ALL_PAGES });
    // First: a copy of the ledger that is there is whole.
    backUpFiles(db, dirname(path), filesOf(target), isWhole);
    complete(temporary, target);
    return sizeOf(target);
  } catch (error) {
    throw databaseError(isOfSource(error) ? path : target, error);
  } finally {
    rmSync(temporary, { force: true });
    closeDb(db);
  }
}

/** Puts a written file under its final name, unless something is there. */
export function complete(temporary: string, target: string): void {
  const file = openSync(temporary, 'r+');
  fsyncSync(file);
  closeSync(file);
  // Unlike a rename, a link never replaces a file that appeared meanwhile.
  linkSync(temporary, target);
  syncFile(dirname(target));
}

/** Throws `usage`. */
export function refuseExisting(target: string): void {
  if (!existsSync(target)) return;
  throw new SquadError({
    code: 'usage',
    message: `${target} exists. squad never overwrites a file.`,
    next: 'Name a file that is not there yet.',
  });
}

function refuseDamage(db: Db, inRows: boolean): void {
  const found = fileDamage(db) ?? (inRows ? guarded(db, () => contentDamage(db)[0]) : undefined);
  if (found === undefined) return;
  throw corruptDatabase(db.name, `the database is damaged (${found}); it was not copied.`);
}

function isOfSource(error: unknown): boolean {
  return error instanceof Error && String((error as { code?: unknown }).code).startsWith('SQLITE_CORRUPT');
}

/** Copies what a resume reads besides the ledger and the repository. Makes no folder if there is none of it. */
function backUpFiles(db: Db, from: string, to: string, isWhole: boolean): void {
  const folders = new Set<string>();
  for (const path of keptFiles(db, from, isWhole)) {
    const target = join(to, path);
    makeSynced(dirname(target));
    give(join(from, path), target);
    folders.add(dirname(target));
  }
  for (const folder of folders) syncFile(folder);
}

/** The equipment of the agents, the hashes of files in a session's folder, and the plan that a person is editing. */
const OF_A_RUN = ['armory', 'folder.jsonl', 'plan.yaml'];

/** Files that a resume needs besides ledger and repository, by paths below `from`. `isWhole`: also copies and attachments, which may be private. */
function keptFiles(db: Db, from: string, isWhole: boolean): string[] {
  const store = createStore(db, { now: () => 0 });
  const runs = store.all<{ id: string }>('SELECT id FROM run');
  const files = isWhole ? filesBelow(from, 'attachments') : [];
  for (const { id } of runs) {
    for (const name of OF_A_RUN) files.push(...filesBelow(from, join('runs', id, name)));
    if (isWhole) files.push(...filesBelow(from, join('copies', id)));
  }
  for (const path of bodyFiles(store)) if (existsSync(join(from, path))) files.push(path);
  return files;
}

function filesBelow(root: string, path: string): string[] {
  try {
    const found = readdirSync(join(root, path), { recursive: true, withFileTypes: true });
    return found.flatMap((one) => (one.isFile() ? [join(one.parentPath, one.name).slice(root.length + 1)] : []));
  } catch (error) {
    return errorCode(error) === 'ENOTDIR' ? [path] : [];
  }
}

/** By a link where that is possible: nothing changes such a file in its place, and copies of each run would add up. */
function give(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return;
    copyFileSync(source, target, constants.COPYFILE_EXCL);
    syncFile(target);
  }
}
