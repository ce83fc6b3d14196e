import { randomUUID } from 'node:crypto';
import { copyFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { readHead } from './baseline.ts';
import { oneLine, type Git } from './git-call.ts';
import { neutralDrivers } from './neutral-settings.ts';
import type { SnapshotAnswer, Worktree } from '../ports/workspaces.ts';

/** A folder and the repository it is read into. */
export interface Place {
  readonly folder: string;
  readonly gitDirectory: string;
  /** An index that the engine wrote and nobody else could: it saves reading files that have not changed since. */
  readonly index?: string;
  readonly commit: string;
  readonly sparse?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
}
export type TreeAnswer =
  | { readonly type: 'tree'; readonly tree: string }
  | { readonly type: 'unreadable'; readonly reason: string };

/** What is in the worktree's folder, by an index of the engine's own: the agent's could hide changes, and stays as it is. */
export async function takeSnapshot(
  git: Git,
  temporary: string,
  worktree: Worktree,
  begin: { index?: string; sparse: boolean },
): Promise<SnapshotAnswer> {
  const { path, git: places } = worktree.workspace;
  const call = { cwd: places.commonDirectory, gitDirectory: places.commonDirectory };
  const head = await readHead(worktree);
  if (head === undefined) return { type: 'unreadable', reason: 'HEAD names no commit' };
  const place = { folder: path, gitDirectory: places.commonDirectory, commit: head, ...begin };
  const [committed, now] = await Promise.all([
    git.run(['rev-parse', '--verify', '--quiet', `${head}^{tree}`], call),
    readTree(git, temporary, place),
  ]);
  if (committed.code !== 0) return { type: 'unreadable', reason: `the commit ${head} is not there` };
  if (now.type !== 'tree') return now;
  return { type: 'snapshot', head, tree: now.tree, clean: now.tree === committed.stdout.trim() };
}

/** All files of a folder as a tree, but those that git ignores. Filters do nothing: bytes are stored as they are. */
export async function readTree(git: Git, temporary: string, place: Place): Promise<TreeAnswer> {
  const index = join(temporary, `index-${randomUUID()}`);
  // Before the first call: even `read-tree` runs filters, on files as young as the index.
  const environment = { ...(await neutralDrivers(git, place.gitDirectory)), ...place.environment };
  const call = { cwd: place.folder, gitDirectory: place.gitDirectory, workTree: place.folder, index, environment };
  try {
    const copied = place.index !== undefined && (await copyIndex(place.index, index));
    // What was committed although git ignores it is known by the commit alone. `-i`: the folder does not matter here.
    const read = await git.run(['read-tree', ...(copied ? ['-i', '-m'] : []), place.commit], call);
    if (read.code !== 0) return { type: 'unreadable', reason: oneLine(read.stderr) };
    const sparse = ['-c', `core.sparseCheckout=${place.sparse === true}`];
    const added = await git.run([...sparse, 'add', '--all', '--sparse', '--', '.'], call);
    if (added.code !== 0) return { type: 'unreadable', reason: added.problem ?? oneLine(added.stderr) };
    return { type: 'tree', tree: await git.text(['write-tree'], call) };
  } finally {
    await Promise.all([index, `${index}.lock`].map((path) => rm(path, { force: true })));
  }
}

/** With its times: git takes a file for unchanged only when it is older than the index that says so. */
async function copyIndex(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to);
    const { atime, mtime } = await stat(from);
    await utimes(to, atime, mtime);
    return true;
  } catch {
    // Somebody cleaned up: the commit will do, and costs reading every file.
    return false;
  }
}
