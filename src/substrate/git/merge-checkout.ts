import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { failpoint } from '../failpoint.ts';
import { exists } from '../files/exists.ts';
import { withScratch } from '../files/scratch.ts';
import {
  createGit,
  findObject,
  gitFailed,
  oneLine,
  requireCommitId,
  splitEntries,
  type Git,
  type GitCall,
  type GitPorts,
} from './git-call.ts';
import { parseMergeTree } from './integration.ts';
import { prepareCalls, readDiffText, type MergeCalls } from './merge-calls.ts';
import { findLosses, listUnlikeMerge, type Loss } from './merge-losses.ts';
import { NOT_THERE, parseRawDiff, type RawChange } from './raw-diff.ts';
import type { Repository } from './repository.ts';
import { syncCheckout } from './sync-checkout.ts';
import { syncRef } from './sync-ref.ts';

/** A commit to merge into the branch that is checked out. */
export interface MergeOrder {
  readonly commit: string;
  /** Of the merge commit, if there has to be one. */
  readonly message: string;
  /** Whether uncommitted changes of this path, relative to the root, may stay as they are where the merge does not change it. */
  readonly mayStay?: (path: string) => boolean;
}

export type MergeAnswer =
  | { readonly type: 'merged'; readonly how: 'fast-forward' | 'merge'; readonly from: string; readonly commit: string }
  /** The branch has all of it. */
  | { readonly type: 'already' }
  | { readonly type: 'unrelated' }
  | { readonly type: 'conflict'; readonly files: readonly string[] }
  /** Tracked files differ from HEAD, and may not stay so. */
  | { readonly type: 'dirty'; readonly files: readonly string[] }
  /** This merge was cut short after it had written `files`. `kept` may stay, but git would write these anew to finish it. */
  | { readonly type: 'half-done'; readonly files: readonly string[]; readonly kept: readonly string[] }
  | Loss
  /** Another operation of git has begun in the checkout. */
  | { readonly type: 'busy'; readonly with: string }
  /** The branch moved meanwhile. */
  | { readonly type: 'moved' }
  /** git could not lock or move the branch, for a reason of its own. */
  | { readonly type: 'refused'; readonly why: string };

/** A checkout with a branch. */
export type BranchCheckout = Repository & { readonly branch: string };

/** A merge that is ready to be written. */
interface Move {
  readonly from: string;
  readonly to: string;
}

/**
 * Merges a commit into the branch that is checked out, without a hook, filter, driver or editor. First come the questions that
 * change nothing: is the checkout clean, is there a conflict, would a file be lost. Then, in this order:
 *
 * 1. The merge commit is written. No ref names it yet.
 * 2. One git locks the branch at its old commit, so that no other process moves it.
 * 3. Another writes the files and then, by rename, the index. They are flushed.
 * 4. The first one moves the branch.
 *
 * A kill before 3 changes nothing, and after 4 nothing is left to do. In between, HEAD is as before, and files of the merge show as
 * changes. The same call again sees that each of them is as the merge has it, and finishes the work, unless changes that may stay
 * are there too.
 */
export async function mergeIntoCheckout(
  ports: GitPorts,
  repository: BranchCheckout,
  order: MergeOrder,
): Promise<MergeAnswer> {
  const git = createGit(ports);
  const busy = await findOperation(repository);
  if (busy !== undefined) return { type: 'busy', with: busy };
  return withScratch(ports.stateDirectory, async (folder) => {
    const calls = await prepareCalls(ports, git, repository, folder);
    const made = await makeMerge(git, calls, repository.head, order);
    if (typeof made !== 'string') return made;
    await calls.share();
    const move = { from: repository.head, to: made };
    const dirty = await listDirty(git, calls.checkout);
    await git.text(['read-tree', made], calls.target);
    const changes = dirty.length === 0 ? [] : await listChanges(git, calls, move);
    const inTheWay = withoutKept(dirty, changes, order.mayStay);
    const isHalfDone = inTheWay.length > 0 && (await isPartOf(git, calls, repository.root, changes, inTheWay));
    if (inTheWay.length > 0 && !isHalfDone) return { type: 'dirty', files: inTheWay };
    const kept = isHalfDone ? dirty.filter((path) => !inTheWay.includes(path)) : [];
    if (kept.length > 0) return { type: 'half-done', files: inTheWay, kept };
    const loss = await findLosses(git, calls, repository.root, move, isHalfDone);
    if (loss !== undefined) return loss;
    failpoint('merge.ready');
    const refused = await moveCheckout(git, calls, repository, move, isHalfDone);
    if (refused !== undefined) return refused;
    return { type: 'merged', how: made === order.commit ? 'fast-forward' : 'merge', from: move.from, commit: made };
  });
}

const OPERATIONS = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'rebase-merge', 'rebase-apply'];

async function findOperation({ gitDirectory }: Repository): Promise<string | undefined> {
  for (const name of OPERATIONS) if (await exists(join(gitDirectory, name))) return name;
  return undefined;
}

/** The commit that the branch would have, or why there is none. */
async function makeMerge(
  git: Git,
  { objects }: MergeCalls,
  head: string,
  { commit, message }: MergeOrder,
): Promise<string | MergeAnswer> {
  const base = (await git.run(['merge-base', head, requireCommitId(commit)], objects)).stdout.trim();
  if (base === '') return { type: 'unrelated' };
  if (base === commit) return { type: 'already' };
  if (base === head) return commit;
  const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', '--end-of-options', head, commit];
  const merged = await git.run(args, objects);
  if (merged.code !== 0 && merged.code !== 1) throw gitFailed(args, merged);
  const { tree, paths } = parseMergeTree(merged.stdout);
  if (merged.code === 1) return { type: 'conflict', files: paths };
  return git.text(['commit-tree', tree, '-p', head, '-p', commit, '-m', message], objects);
}

async function listDirty(git: Git, call: GitCall): Promise<readonly string[]> {
  const args = ['status', '--porcelain=v1', '-z', '--no-renames', '--untracked-files=no', '--ignore-submodules=dirty'];
  const { code, stdout, ...answer } = await git.run(args, call);
  if (code !== 0) throw gitFailed(args, { code, stdout, ...answer });
  return splitEntries(stdout).map((entry) => entry.slice(3));
}

async function listChanges(git: Git, calls: MergeCalls, { from, to }: Move): Promise<readonly RawChange[]> {
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', from, to];
  return parseRawDiff(await readDiffText(git, calls, args, calls.checkout));
}

/** The paths whose changes may not stay, or that the merge writes: a folder in place of a file too. */
function withoutKept(
  dirty: readonly string[],
  changes: readonly RawChange[],
  mayStay: MergeOrder['mayStay'] = () => false,
): readonly string[] {
  const written = new Set(changes.map(({ path }) => path));
  const above = new Set([...written].flatMap(foldersAbove));
  const isTouched = (path: string): boolean =>
    written.has(path) || above.has(path) || foldersAbove(path).some((folder) => written.has(folder));
  return dirty.filter((path) => !mayStay(path) || isTouched(path));
}

function foldersAbove(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** Whether a merge that was cut short explains all these changes: each file is in the merge, and already as it is there. */
async function isPartOf(
  git: Git,
  calls: MergeCalls,
  root: string,
  changes: readonly RawChange[],
  dirty: readonly string[],
): Promise<boolean> {
  const written = new Map(changes.map((change) => [change.path, change]));
  const left = await listUnlikeMerge(git, calls);
  for (const path of dirty) {
    const change = written.get(path);
    if (change === undefined || left.has(path)) return false;
    // The index of the merge does not have it, so nothing has compared it yet.
    if (change.newMode === NOT_THERE && (await isFile(join(root, path)))) return false;
  }
  return true;
}

async function isFile(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return found !== undefined && !found.isDirectory();
}

/** Steps 2 to 4. An answer: the branch did not move, and the checkout is as it was. */
async function moveCheckout(
  git: Git,
  calls: MergeCalls,
  repository: BranchCheckout,
  { from, to }: Move,
  isHalfDone: boolean,
): Promise<Extract<MergeAnswer, { type: 'moved' | 'refused' }> | undefined> {
  const { checkout } = calls;
  const ref = `refs/heads/${repository.branch}`;
  const reason = ['-m', 'squad merge'];
  const mover = await git.converse(['update-ref', ...reason, '--stdin'], checkout);
  try {
    const locked = await mover.ask(`start\nupdate ${ref} ${to} ${from}\nprepare\n`, endOf('prepare: ok\n'));
    if (locked === undefined) return await whyNot(git, checkout, ref, from, mover.complaint());
    failpoint('merge.locked');
    // It says by its exit code that files differ, which `read-tree` finds too.
    await git.run(['update-index', '-q', '--refresh'], checkout);
    // With --reset, files that are already as in the merge count as its own.
    await git.text(isHalfDone ? ['read-tree', '--reset', '-u', to] : ['read-tree', '-m', '-u', from, to], checkout);
    failpoint('merge.written');
    await syncCheckout(repository, await listChanges(git, calls, { from, to }));
    const committed = await mover.ask('commit\n', endOf('commit: ok\n'));
    // It does not stay for long. Its lock is gone, so the old value is compared again.
    const moved =
      committed === undefined ? await git.run(['update-ref', ...reason, ref, to, from], checkout) : undefined;
    if (moved === undefined || moved.code === 0) {
      await syncRef(repository.commonDirectory, ref, new Set());
      return undefined;
    }
    await git.text(['read-tree', '-m', '-u', to, from], checkout);
    return await whyNot(git, checkout, ref, from, moved.stderr);
  } finally {
    mover.close();
  }
}

async function whyNot(git: Git, call: GitCall, ref: string, from: string, complaint: string) {
  const now = await findObject(git, call, `${ref}^{commit}`);
  return now === from ? ({ type: 'refused', why: oneLine(complaint) } as const) : ({ type: 'moved' } as const);
}

function endOf(answer: string): (bytes: Buffer) => number {
  return (bytes) => (bytes.includes(answer) ? bytes.indexOf(answer) + answer.length : 0);
}
