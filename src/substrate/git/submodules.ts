import { realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readPointer } from './baseline.ts';
import type { GitContext } from './git-context.ts';
import { emptyTree, readRawDiff, REPOSITORY_MODE } from './raw-diff.ts';
import { readTree } from './snapshot.ts';
import { exists } from '../files/exists.ts';
import type { Worktree } from '../ports/workspaces.ts';

/** A submodule's config, which an agent can write, must not make git fetch. */
const NO_TRANSPORT = { GIT_ALLOW_PROTOCOL: 'none' };

type Places = Pick<GitContext, 'git' | 'temporary'>;

/** Repositories in a worktree, by path, and the commit of each that the tree names. */
type Repositories = ReadonlyMap<string, string>;

export async function repositoriesAt(context: Places, gitDirectory: string, tree: string): Promise<Repositories> {
  const call = { cwd: gitDirectory, gitDirectory };
  const all = await readRawDiff(context, call, emptyTree(tree), tree);
  const found = all.filter((change) => change.newMode === REPOSITORY_MODE);
  return new Map(found.map((change) => [change.path, change.newObject]));
}

/**
 * Repositories in a worktree whose content may exist nowhere else. Safe are an empty folder, and a submodule at the commit that
 * the task's base names, without changes and with no commit that the remotes lack.
 */
export async function findUnproven(
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
  const committed = await git.run(['rev-parse', '--verify', '--quiet', `${commit}^{tree}`], call);
  const found = await readTree(context, { folder, gitDirectory, commit, environment: NO_TRANSPORT });
  if (committed.code !== 0 || found.type !== 'tree' || found.tree !== committed.stdout.trim()) return false;
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
