import { randomUUID } from 'node:crypto';
import { link, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SquadError } from '../../model/errors.ts';
import { errorCode, storageError } from '../../model/storage-error.ts';
import { plainLine } from '../../text/plain-text.ts';
import { findByVariable } from '../system/process/process-table.ts';
import { gitsAt } from './git-locks.ts';
import { lookAtLock, type TakenLock } from './lock-file.ts';
import {
  indexLock,
  indexLockOwner,
  journalFolder,
  privateIndex,
  readJournal,
  readQuietly,
  removeJournal,
  type MergeJournal,
} from './merge-journal.ts';
import { removeLeftScratch } from '../system/process/left-scratch.ts';
import { isOwnerAlive } from '../system/process/owner.ts';
import type { BranchCheckout } from './merge-order.ts';

/** A git that outlives its squad writes the rest of its files. */
const PATIENCE_MS = 30_000;
const LOOK_MS = 50;
/** A git that only moves the branch looks like any other: it is not waited for longer than this. */
const ENDING_MS = 5_000;
/** A git changes or releases a lock that it has just taken within this time. */
const STABLE_MS = 300;

/**
 * Takes away what a merge that was killed holds: its locks and scratch, and nothing of another git's. Returns its journal if its
 * files may still be written in part. Throws `workspace-busy` while that merge is at work.
 */
export async function recoverMerge(
  repository: BranchCheckout,
  stateDirectory: string,
): Promise<MergeJournal | undefined> {
  await removeLeftScratch(stateDirectory);
  const { gitDirectory, head, branch, root } = repository;
  const journal = readJournal(gitDirectory);
  const lock = indexLock(gitDirectory);
  const holder = indexLockOwner(lock);
  if (journal === undefined && holder === undefined) return undefined;
  for (const owner of [journal?.owner, holder]) if (owner && isOwnerAlive(owner)) throw atWork(root, [owner.pid]);
  await waitForGits(root, gitDirectory);
  for (const path of journal === undefined ? [] : refLocks(repository, journal.ref)) {
    const left = journal === undefined ? undefined : await findLeft(path, journal);
    if (left !== undefined) await removeLock(gitDirectory, path, (moved) => lookAtLock(moved)?.inode === left.inode);
  }
  if (holder !== undefined) {
    await removeLock(gitDirectory, lock, (moved) => indexLockOwner(moved)?.startTime === holder.startTime);
  }
  if (journal?.from === head && journal.ref === `refs/heads/${branch}`) return journal;
  await removeJournal(gitDirectory);
  return undefined;
}

/** The orphans of a squad that was killed alone: they end by themselves, and nothing may be done beside them. */
async function waitForGits(root: string, gitDirectory: string): Promise<void> {
  const mark = `GIT_INDEX_FILE=${privateIndex(gitDirectory)}`;
  for (let waited = 0; ; waited += LOOK_MS) {
    const gits = findByVariable(mark);
    if (gits.length === 0) return;
    if (waited > PATIENCE_MS) throw atWork(root, gits);
    await sleep(LOOK_MS);
  }
}

/** The locks that `update-ref` takes for the branch that is checked out. */
export function refLocks(
  { gitDirectory, commonDirectory }: Pick<BranchCheckout, 'gitDirectory' | 'commonDirectory'>,
  ref: string,
): readonly string[] {
  return [join(gitDirectory, 'HEAD.lock'), join(commonDirectory, `${ref}.lock`)];
}

/**
 * The lock, if the merge that was killed has left it. One that its journal does not name yet has what such a git writes first, and no
 * git is at work there, or changes it.
 */
async function findLeft(path: string, { locks, to }: MergeJournal): Promise<TakenLock | undefined> {
  const before = lookAtLock(path);
  if (before === undefined || locks.some((lock) => isSameLock(lock, before))) return before;
  const text = readQuietly(path, to.length + 1);
  if (text === undefined || !`${to}\n`.startsWith(text)) return undefined;
  // One that was killed is in the table of processes until its parent or the system has taken note.
  for (let waited = 0; gitsAt(path).length > 0; waited += LOOK_MS) {
    if (waited > ENDING_MS) return undefined;
    await sleep(LOOK_MS);
  }
  await sleep(STABLE_MS);
  const after = lookAtLock(path);
  return after !== undefined && isSameLock(before, after) && gitsAt(path).length === 0 ? after : undefined;
}

function isSameLock(one: TakenLock, other: TakenLock): boolean {
  return one.path === other.path && one.inode === other.inode && one.changed === other.changed;
}

/** Removes the file that was looked at, and no other one that has its name by now. */
async function removeLock(gitDirectory: string, path: string, isStillIt: (moved: string) => boolean): Promise<void> {
  const aside = join(journalFolder(gitDirectory), `left-${randomUUID()}`);
  try {
    await mkdir(journalFolder(gitDirectory), { recursive: true });
    await rename(path, aside);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw storageError(path, error);
  }
  // Where another git has taken the name meanwhile, it has its lock.
  if (!isStillIt(aside)) await link(aside, path).catch(() => undefined);
  await rm(aside, { force: true });
}

function atWork(root: string, pids: readonly number[]): SquadError {
  return new SquadError({
    code: 'workspace-busy',
    message: `another \`squad merge\` is at work in ${plainLine(root, 300)} (PID ${pids.join(', ')})`,
    next: 'Wait until it has ended, and give the command again.',
  });
}
