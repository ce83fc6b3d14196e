import { lstat, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readPointer } from './baseline.ts';
import type { Git } from './git-call.ts';
import { emptyTree, readRawDiff, REPOSITORY_MODE } from './raw-diff.ts';
import { readTree } from './snapshot.ts';
import type { Worktree } from '../ports/workspaces.ts';

/** What an agent wrote into a submodule's config must not make git fetch anything. */
const NO_TRANSPORT = { GIT_ALLOW_PROTOCOL: 'none' };

/** Repositories in a worktree, by path, and the commit of each that the tree names. */
export type Repositories = ReadonlyMap<string, string>;

export async function repositoriesAt(
  git: Git,
  temporary: string,
  gitDirectory: string,
  tree: string,
): Promise<Repositories> {
  const call = { cwd: gitDirectory, gitDirectory };
  const all = await readRawDiff(git, call, temporary, emptyTree(tree), tree);
  const found = all.filter((change) => change.newMode === REPOSITORY_MODE);
  return new Map(found.map((change) => [change.path, change.newObject]));
}

/**
 * Repositories of a worktree whose content is not proven to be elsewhere too. Proven: nothing is in the folder; or it is
 * a submodule at the very commit that the task's base names, without a change and with no commit that no remote has.
 */
export async function findUnproven(
  git: Git,
  temporary: string,
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
    if (!known || !(await isPristine(git, temporary, folder, own.directory, commit))) unproven.push(path);
  }
  return unproven;
}

async function isPristine(
  git: Git,
  temporary: string,
  folder: string,
  gitDirectory: string,
  commit: string,
): Promise<boolean> {
  const call = { cwd: gitDirectory, gitDirectory, environment: NO_TRANSPORT };
  const committed = await git.run(['rev-parse', '--verify', '--quiet', `${commit}^{tree}`], call);
  const found = await readTree(git, temporary, { folder, gitDirectory, commit, environment: NO_TRANSPORT });
  if (committed.code !== 0 || found.type !== 'tree' || found.tree !== committed.stdout.trim()) return false;
  const own = await git.run(['rev-list', '--max-count=1', '--all', 'HEAD', '--not', '--remotes', commit], call);
  if (own.code !== 0 || own.stdout !== '') return false;
  const inner = await repositoriesAt(git, temporary, gitDirectory, found.tree);
  const populated = await Promise.all([...inner.keys()].map(async (path) => exists(join(folder, path, '.git'))));
  return !populated.includes(true);
}

type OwnDirectory = { type: 'empty' | 'foreign' } | { type: 'submodule'; directory: string };

/** Only a git directory below the worktree's own is believed: the pointer in the folder is the agent's to write. */
async function findOwnDirectory(worktree: Worktree, folder: string): Promise<OwnDirectory> {
  const pointer = join(folder, '.git');
  if (!(await exists(pointer))) return { type: 'empty' };
  try {
    const target = await readPointer(folder);
    const modules = await realpath(join(worktree.workspace.git.worktreeDirectory, 'modules'));
    const directory = await realpath(resolve(folder, target ?? ''));
    return directory.startsWith(`${modules}/`) ? { type: 'submodule', directory } : { type: 'foreign' };
  } catch {
    // A repository of another shape: a folder `.git`, or a pointer to nowhere.
    return { type: 'foreign' };
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
