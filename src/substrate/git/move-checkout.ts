import { copyFile, lstat, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode, storageError } from '../../model/storage-error.ts';
import { failpoint } from '../system/failpoint.ts';
import type { Conversation } from '../system/process/conversation.ts';
import { findObject, type Git, type GitCall, oneLine } from './git-call.ts';
import { lockedError, lockIn } from './git-locks.ts';
import { lookAtLock } from './lock-file.ts';
import type { MergeCalls } from './merge-calls.ts';
import { ownOwner } from '../system/process/owner.ts';
import type { BranchCheckout, MergeAnswer, MergeOrder } from './merge-order.ts';
import {
  indexLock,
  type MergeJournal,
  privateIndex,
  removeJournal,
  takeIndexLock,
  writeJournal,
} from './merge-journal.ts';
import { refLocks } from './merge-recovery.ts';
import { NOT_THERE, type RawChange } from './raw-diff.ts';
import { syncRef } from './sync-ref.ts';
import { syncAll } from '../system/files/sync.ts';
import type { Repository } from './repository.ts';

type Refused = Extract<MergeAnswer, { type: 'moved' | 'refused' }>;

/** A merge that is ready to be written. */
interface Move extends Pick<MergeOrder, 'run' | 'commit'> {
  readonly from: string;
  readonly to: string;
  readonly changes: readonly RawChange[];
  /** Those that a merge which was cut short has already made, in whole or in part. */
  readonly made: readonly RawChange[];
}

const REASON = ['-m', 'squad merge'];

/**
 * Locks the branch at its old commit; writes the files, then by rename the index, and flushes them; moves the branch last. An answer:
 * the branch did not move, and the checkout is as it was.
 */
export async function moveCheckout(
  git: Git,
  calls: MergeCalls,
  repository: BranchCheckout,
  move: Move,
): Promise<Refused | undefined> {
  const { root, branch, gitDirectory } = repository;
  const owner = ownOwner();
  await takeIndexLock(gitDirectory, owner);
  const { run, commit, from, to } = move;
  const ref = `refs/heads/${branch}`;
  const journal: MergeJournal = {
    ...{ version: 1, run, root, ref, from, to, commit },
    ...{ owner, locks: [] },
  };
  const work = { git, calls: atPrivateIndex(calls, gitDirectory), repository, journal };
  let isCut = move.made.length > 0;
  try {
    await writeJournal(gitDirectory, journal);
    const mover = await git.converse(['update-ref', ...REASON, '--stdin'], work.calls.checkout);
    try {
      const refused = await lockBranch(work, mover);
      if (refused !== undefined) return refused;
      isCut = true;
      await writeFiles(work, move);
      const late = await moveBranch(work, mover);
      isCut = false;
      return late;
    } finally {
      mover.close();
    }
  } finally {
    // The next merge finishes files that were written in part.
    await (isCut ? writeJournal(gitDirectory, { ...journal, owner: null }) : removeJournal(gitDirectory));
    await rm(indexLock(gitDirectory), { force: true });
  }
}

interface Work {
  readonly git: Git;
  readonly calls: MergeCalls;
  readonly repository: BranchCheckout;
  readonly journal: MergeJournal;
}

/** The index of the checkout changes in one step, once all files are written; and its lock is squad's own. */
function atPrivateIndex(calls: MergeCalls, gitDirectory: string): MergeCalls {
  return { ...calls, checkout: { ...calls.checkout, index: privateIndex(gitDirectory) } };
}

/** A git keeps the branch and HEAD locked until the mover ends. */
async function lockBranch({ git, calls, repository, journal }: Work, mover: Conversation) {
  const { ref, from, to } = journal;
  const locked = await mover.ask(`start\nupdate ${ref} ${to} ${from}\nprepare\n`, endOf('prepare: ok\n'));
  if (locked === undefined) return whyNot(git, calls.checkout, journal, mover.complaint());
  const locks = refLocks(repository, ref).flatMap((path) => lookAtLock(path) ?? []);
  await writeJournal(repository.gitDirectory, { ...journal, locks });
  failpoint('merge.locked');
  return undefined;
}

async function writeFiles({ git, calls, repository }: Work, move: Move): Promise<void> {
  await onPrivateIndex(repository, async () => {
    const from = move.made.length === 0 ? move.from : await takeOver(git, calls, move);
    // It says by its exit code that files differ, which `read-tree` finds too.
    await git.run(['update-index', '-q', '--refresh'], calls.checkout);
    await git.text(['read-tree', '-m', '-u', from, move.to], calls.checkout);
  });
  failpoint('merge.written');
  await syncCheckout(repository, move.changes);
}

/** Makes the files that are there as in the merge, and no other. Returns the tree from which only the others are left to write. */
async function takeOver(git: Git, { checkout, folder }: MergeCalls, { from, made }: Move): Promise<string> {
  const [left, there] = [made.filter(isGone), made.filter((change) => !isGone(change))];
  const entries = join(folder, 'made-entries');
  // Where a file has become a folder, the entry of the file goes first.
  await writeFile(
    entries,
    [...left, ...there].map(({ path, newMode, newObject }) => `${newMode} ${newObject}\t${path}\0`).join(''),
  );
  const files = join(folder, 'made-files');
  await writeFile(files, there.map(({ path }) => `${path}\0`).join(''));
  const beside = { ...checkout, index: join(folder, 'made-index') };
  await git.text(['read-tree', from], beside);
  for (const call of [checkout, beside]) {
    await git.text(['update-index', '-z', '--index-info'], { ...call, input: entries });
  }
  await git.text(['checkout-index', '-f', '-u', '-z', '--stdin'], { ...checkout, input: files });
  return git.text(['write-tree'], beside);
}

function isGone({ newMode }: RawChange): boolean {
  return newMode === NOT_THERE;
}

async function moveBranch(
  { git, calls, repository, journal }: Work,
  mover: Conversation,
): Promise<Refused | undefined> {
  const { ref, from, to } = journal;
  const committed = await mover.ask('commit\n', endOf('commit: ok\n'));
  // It does not stay for long. Its lock is gone, so the old value is compared again.
  const update = ['update-ref', ...REASON, ref, to, from];
  const moved = committed === undefined ? await git.run(update, calls.checkout) : undefined;
  if (moved === undefined || moved.code === 0) {
    await syncRef(repository.commonDirectory, ref, new Set());
    return undefined;
  }
  await onPrivateIndex(repository, async () => git.text(['read-tree', '-m', '-u', to, from], calls.checkout));
  return whyNot(git, calls.checkout, journal, moved.stderr);
}

/** Runs `work` on a copy of the index, then puts the copy in its place. */
async function onPrivateIndex({ gitDirectory }: BranchCheckout, work: () => Promise<unknown>): Promise<void> {
  const [index, copy] = [join(gitDirectory, 'index'), privateIndex(gitDirectory)];
  try {
    // An earlier merge may have left its own.
    for (const path of [copy, `${copy}.lock`]) await rm(path, { force: true });
    await copyFile(index, copy);
    // An entry as young as the index is compared by its content: a copy must not look younger.
    const since = Math.floor((await stat(index)).mtimeMs / 1000);
    await utimes(copy, since, since);
  } catch (error) {
    // A checkout without an index has none of its files.
    if (errorCode(error) !== 'ENOENT') throw storageError(copy, error);
  }
  await work();
  await rename(copy, index).catch((error: unknown) => {
    throw storageError(index, error);
  });
}

async function whyNot(git: Git, call: GitCall, { ref, from }: MergeJournal, complaint: string): Promise<Refused> {
  const lock = lockIn(complaint);
  if (lock !== undefined) throw lockedError(lock);
  const now = await findObject(git, call, `${ref}^{commit}`);
  return now === from ? { type: 'refused', why: oneLine(complaint) } : { type: 'moved' };
}

function endOf(answer: string): (bytes: Buffer) => number {
  return (bytes) => (bytes.includes(answer) ? bytes.indexOf(answer) + answer.length : 0);
}

/**
 * Returns once changed files of a checkout, their names and its index are on the disk. git flushes the index by itself
 * (`GitCall.durable`), and no file.
 */
async function syncCheckout(
  { root, gitDirectory }: Pick<Repository, 'root' | 'gitDirectory'>,
  changes: readonly RawChange[],
): Promise<void> {
  const folders = new Set([root]);
  const files: string[] = [];
  for (const { path } of changes) {
    const own = join(root, path);
    // A link has no content to flush, and what is not checked out is not there.
    if (await is(own, 'file')) files.push(own);
    for (let folder = dirname(own); folder.length > root.length && !folders.has(folder); folder = dirname(folder)) {
      if (await is(folder, 'folder')) folders.add(folder);
    }
  }
  await syncAll([...files, ...folders, gitDirectory]);
}

async function is(path: string, kind: 'file' | 'folder'): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return kind === 'file' ? found?.isFile() === true : found?.isDirectory() === true;
}
