import { realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { failpoint } from '../failpoint.ts';
import { exists } from '../files/exists.ts';
import type { RemovalAnswer, ResetAnswer, Snapshot, SnapshotAnswer, Worktree } from '../ports/workspaces.ts';
import { readPointer } from './baseline.ts';
import { requireCommitId, requireName, findObject } from './git-call.ts';
import { type GitContext, worktreePath } from './git-context.ts';
import { emptyTree, readRawDiff, REPOSITORY_MODE } from './raw-diff.ts';
import { committedIn, keep, keepNumbered, snapshotOf, readTree } from './rescue.ts';
import { findUsers } from './stale-locks.ts';
import {
  addWorktree,
  checkOut,
  clean,
  discardWorktree,
  disown,
  finishHalfMade,
  isHalfMade,
  noteDown,
  readNote,
} from './worktrees.ts';

export async function moveWorktree(
  context: GitContext,
  worktree: Worktree,
  commit: string,
  attempt: string,
): Promise<Worktree | SnapshotAnswer> {
  const snapshot = await snapshotOf(context, worktree);
  if (snapshot.type !== 'snapshot') return snapshot;
  if (snapshot.clean && snapshot.head === commit && worktree.base === commit) return worktree;
  if (!snapshot.clean || snapshot.head !== worktree.base) await keep(context, worktree, requireName(attempt), snapshot);
  failpoint('git.rescued');
  const { path, git } = worktree.workspace;
  await checkOut(context, path, git.worktreeDirectory, requireCommitId(commit));
  await clean(context, path, git.worktreeDirectory);
  return noteDown(context, {
    run: worktree.run,
    task: worktree.task,
    base: commit,
    resetFor: worktree.resetFor,
    remade: worktree.remade,
    path,
    directory: git.worktreeDirectory,
  });
}

export async function standOn(
  context: GitContext,
  worktree: Worktree,
  commit: string,
  index: 'staged' | 'follows',
): Promise<void> {
  const { path, git } = worktree.workspace;
  const call = { cwd: path, gitDirectory: git.worktreeDirectory, workTree: path };
  // `--no-deref`: if HEAD is symbolic, this must not move a branch.
  await context.git.text(['update-ref', '--no-deref', 'HEAD', commit], call);
  if (index === 'follows') await context.git.text(['read-tree', commit], call);
}

type Refused = Extract<RemovalAnswer, { type: 'refused' }>;

export async function removeWorktree(
  context: GitContext,
  { run, task }: Pick<Worktree, 'run' | 'task'>,
  attempt: string,
): Promise<RemovalAnswer> {
  requireName(attempt);
  const known = await readNote(context, run, task);
  if (known === undefined && !(await isHalfMade(context, run, task))) return { type: 'removed', rescued: false };
  const inUse = await refuseInUse(context, run, task);
  if (inUse !== undefined) return inUse;
  if (known === undefined) {
    const problem = await finishHalfMade(context, run, task);
    return problem === undefined ? { type: 'removed', rescued: false } : notDeleted(problem);
  }
  const found = await readSafely(context, known);
  if (found?.type === 'refused') return found;
  if (found === undefined || (found.clean && found.head === known.base)) return discard(context, known);
  const kept = await keep(context, known, attempt, found);
  return discard(context, known, { kept, rescued: !found.clean });
}

export async function resetWorktree(
  context: GitContext,
  { run, task }: Worktree,
  order: { commit: string; attempt: string; rescueAs: string },
): Promise<ResetAnswer> {
  const commit = requireCommitId(order.commit);
  const resetFor = requireName(order.attempt);
  const known = await readNote(context, run, task);
  let rescued: string | undefined;
  if (known !== undefined) {
    if (known.resetFor === resetFor && (await exists(known.workspace.path))) return { type: 'ready', worktree: known };
    const found = (await refuseInUse(context, run, task)) ?? (await readSafely(context, known));
    if (found?.type === 'refused') return found;
    if (found !== undefined) rescued = await keepNumbered(context, known, { ...order, commit }, found);
    const discarded = await discard(context, known);
    if (discarded.type === 'refused') return discarded;
  }
  const worktree = await addWorktree(context, { run, task, commit, resetFor });
  return { type: 'ready', worktree, ...(rescued === undefined ? {} : { rescued }) };
}

async function refuseInUse(context: GitContext, run: string, task: string): Promise<Refused | undefined> {
  const users = await findUsers(worktreePath(context, run, task));
  if (users.length === 0) return undefined;
  return { type: 'refused', reason: 'in-use', detail: users.map((pid) => `process ${pid}`) };
}

/** The work to keep before the worktree is removed, or why it cannot be kept. undefined: it was deleted, and has no commit. */
async function readSafely(context: GitContext, worktree: Worktree): Promise<Snapshot | Refused | undefined> {
  if (!(await exists(worktree.workspace.path))) return committedIn(context, worktree);
  const snapshot = await snapshotOf(context, worktree);
  if (snapshot.type !== 'snapshot') return { type: 'refused', reason: 'unreadable', detail: [snapshot.reason] };
  const unproven = await findLosses(context, worktree, snapshot);
  return unproven.length > 0 ? { type: 'refused', reason: 'repositories', detail: unproven } : snapshot;
}

async function discard(
  context: GitContext,
  worktree: Worktree,
  answer: { kept?: string; rescued: boolean } = { rescued: false },
): Promise<RemovalAnswer> {
  failpoint('git.before-removal');
  await disown(context, worktree.run, worktree.task);
  const problem = await discardWorktree(context, worktree.run, worktree.task);
  if (problem !== undefined) return notDeleted(problem);
  failpoint('git.removed');
  return { type: 'removed', ...answer };
}

function notDeleted(problem: string): Refused {
  return { type: 'refused', reason: 'not-deleted', detail: [problem] };
}

/** Repositories in the worktree that hold something which is not proven to exist elsewhere. */
async function findLosses(context: GitContext, worktree: Worktree, snapshot: Snapshot): Promise<readonly string[]> {
  const now = await repositoriesAt(context, context.commonDirectory, snapshot.tree);
  if (now.size === 0) return [];
  const atBase = await repositoriesAt(context, context.commonDirectory, worktree.base);
  return findUnproven(context, worktree, atBase, now);
}

/** A submodule's config, which an agent can write, must not make git fetch. */
const NO_TRANSPORT = { GIT_ALLOW_PROTOCOL: 'none' };

type Places = Pick<GitContext, 'git' | 'temporary'>;

/** Repositories in a worktree, by path, and the commit of each that the tree names. */
type Repositories = ReadonlyMap<string, string>;

async function repositoriesAt(context: Places, gitDirectory: string, tree: string): Promise<Repositories> {
  const call = { cwd: gitDirectory, gitDirectory };
  const all = await readRawDiff(context, call, emptyTree(tree), tree);
  const found = all.filter((change) => change.newMode === REPOSITORY_MODE);
  return new Map(found.map((change) => [change.path, change.newObject]));
}

/**
 * Repositories in a worktree whose content may exist nowhere else. Safe are an empty folder, and a submodule at the commit that
 * the task's base names, without changes and with no commit that the remotes lack.
 */
async function findUnproven(
  context: Places,
  worktree: Worktree,
  atBase: Repositories,
  now: Repositories,
): Promise<readonly string[]> {
  const unproven: string[] = [];
  for (const [path, commit] of now) {
    const folder = join(worktree.workspace.path, path);
    const own = await findOwnDirectory(worktree, folder);
    if (own.type === 'empty') continue;
    const known = own.type === 'submodule' && atBase.get(path) === commit;
    if (!known || !(await isPristine(context, folder, own.directory, commit))) unproven.push(path);
  }
  return unproven;
}

async function isPristine(context: Places, folder: string, gitDirectory: string, commit: string): Promise<boolean> {
  const { git } = context;
  const call = { cwd: gitDirectory, gitDirectory, environment: NO_TRANSPORT };
  const committed = await findObject(git, call, `${commit}^{tree}`);
  const found = await readTree(context, { folder, gitDirectory, commit, environment: NO_TRANSPORT });
  if (found.type !== 'tree' || found.tree !== committed) return false;
  const own = await git.run(['rev-list', '--max-count=1', '--all', 'HEAD', '--not', '--remotes', commit], call);
  if (own.code !== 0 || own.stdout !== '') return false;
  const inner = await repositoriesAt(context, gitDirectory, found.tree);
  const populated = await Promise.all([...inner.keys()].map(async (path) => exists(join(folder, path, '.git'))));
  return !populated.includes(true);
}

type OwnDirectory = { type: 'empty' | 'foreign' } | { type: 'submodule'; directory: string };

/** Accepts only a git directory below the worktree's own, because an agent can write the pointer in the folder. */
async function findOwnDirectory(worktree: Worktree, folder: string): Promise<OwnDirectory> {
  const pointer = join(folder, '.git');
  if (!(await exists(pointer))) return { type: 'empty' };
  try {
    const target = await readPointer(folder);
    const modules = await realpath(join(worktree.workspace.git.worktreeDirectory, 'modules'));
    const directory = await realpath(resolve(folder, target ?? ''));
    return directory.startsWith(`${modules}/`) ? { type: 'submodule', directory } : { type: 'foreign' };
  } catch {
    // `.git` is a folder, or points nowhere.
    return { type: 'foreign' };
  }
}
