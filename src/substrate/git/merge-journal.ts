import { randomUUID } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { link, mkdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../text/json.ts';
import { errorCode, storageError } from '../../model/storage-error.ts';
import { writeWhole } from '../system/files/run-files.ts';
import { syncFile } from '../system/files/sync.ts';
import { lockedError } from './git-locks.ts';
import { lockSchema } from './lock-file.ts';
import { ownerSchema, type Owner } from '../system/process/owner.ts';

/**
 * Written before a merge changes a checkout, so that the next call can finish it after a kill at any point. Until the branch moves, HEAD is
 * as before and files of the merge show as changes.
 */
const journalSchema = z.object({
  version: z.literal(1),
  run: z.string(),
  root: z.string(),
  ref: z.string(),
  /** The commit of the branch before and after the merge, and the commit that is merged. */
  from: z.string(),
  to: z.string(),
  commit: z.string(),
  /** The process of the merge; null: it has ended and left work for the next one. */
  owner: ownerSchema.nullable(),
  /** Those of refs, once git has them. */
  locks: z.array(lockSchema),
});
export type MergeJournal = z.infer<typeof journalSchema>;

/** In the git directory of the checkout, so that it moves with it, and on the file system of the index. */
export function journalFolder(gitDirectory: string): string {
  return join(gitDirectory, 'squad-merge');
}

/** The index of the merge while its files are written. The name marks each git of the merge. */
export function privateIndex(gitDirectory: string): string {
  return join(journalFolder(gitDirectory), 'index');
}

export function indexLock(gitDirectory: string): string {
  return join(gitDirectory, 'index.lock');
}

/** undefined: there is none, or none that squad wrote whole. */
export function readJournal(gitDirectory: string): MergeJournal | undefined {
  const text = readQuietly(join(journalFolder(gitDirectory), 'journal.json'));
  return text === undefined ? undefined : journalSchema.safeParse(parseJson(text)).data;
}

/** Merges that were cut short, or are at work, by the git directories of checkouts. */
export function findJournals(directories: readonly string[]): readonly (MergeJournal & { directory: string })[] {
  return directories.flatMap((directory) => {
    const journal = readJournal(directory);
    return journal === undefined ? [] : [{ ...journal, directory }];
  });
}

/** On the disk when it returns. */
export async function writeJournal(gitDirectory: string, journal: MergeJournal): Promise<void> {
  const folder = journalFolder(gitDirectory);
  // Others who share the repository have to read it.
  await writeWhole(join(folder, 'journal.json'), `${JSON.stringify(journal)}\n`, { mode: 0o644 });
  syncFile(folder);
}

/** Once the merge is over, or nothing is left of it. */
export async function removeJournal(gitDirectory: string): Promise<void> {
  const folder = journalFolder(gitDirectory);
  await rm(folder, { recursive: true, force: true }).catch((error: unknown) => {
    throw storageError(folder, error);
  });
}

const LOCK_MARK = 'squad merge ';

/**
 * Locks the index against every git, by a file that says whose it is from its first moment on. Throws `git-locked` where another git
 * has it.
 */
export async function takeIndexLock(gitDirectory: string, owner: Owner): Promise<void> {
  const lock = indexLock(gitDirectory);
  const text = `${LOCK_MARK}${JSON.stringify(owner)}\n`;
  const fresh = join(journalFolder(gitDirectory), `lock-${randomUUID()}`);
  try {
    await mkdir(journalFolder(gitDirectory), { recursive: true });
    await writeFile(fresh, text, { flag: 'wx' });
    await link(fresh, lock).catch(async (error: unknown) => {
      if (errorCode(error) === 'EEXIST') throw error;
      // A file system without links.
      await writeFile(lock, text, { flag: 'wx' });
    });
    await rm(fresh, { force: true });
  } catch (error) {
    await rm(fresh, { force: true }).catch(() => undefined);
    // Not while another merge is at work in it.
    await rmdir(journalFolder(gitDirectory)).catch(() => undefined);
    throw errorCode(error) === 'EEXIST' ? lockedError(lock, error) : storageError(lock, error);
  }
}

/** undefined: no merge has the index locked; another git may. */
export function indexLockOwner(path: string): Owner | undefined {
  const text = readQuietly(path, LOCK_MARK.length + 500);
  return text?.startsWith(LOCK_MARK) === true
    ? ownerSchema.safeParse(parseJson(text.slice(LOCK_MARK.length))).data
    : undefined;
}

/** A longer file counts as none. */
export function readQuietly(path: string, most = 100_000): string | undefined {
  try {
    return (lstatSync(path, { throwIfNoEntry: false })?.size ?? Infinity) > most
      ? undefined
      : readFileSync(path, 'utf8');
  } catch {
    // It has gone meanwhile, or belongs to another user.
    return undefined;
  }
}
