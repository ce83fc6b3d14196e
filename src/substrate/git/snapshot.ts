import { randomUUID } from 'node:crypto';
import { copyFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { readHead } from './baseline.ts';
import { oneLine } from './git-call.ts';
import type { GitContext } from './git-context.ts';
import { neutralDrivers } from './neutral-settings.ts';
import type { SnapshotAnswer, Worktree } from '../ports/workspaces.ts';

/** A folder and the repository that its files are read into. */
interface Place {
  readonly folder: string;
  readonly gitDirectory: string;
  /** An index of the engine, which agents cannot write. It saves reading unchanged files. */
  readonly index?: string;
  readonly commit: string;
  readonly sparse?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
}
type TreeAnswer =
  | { readonly type: 'tree'; readonly tree: string }
  | { readonly type: 'unreadable'; readonly reason: string };

/** The worktree's files, by an index of the engine. The agent's index could hide changes; it is not used or changed. */
export async function takeSnapshot(
  context: Pick<GitContext, 'git' | 'temporary'>,
  worktree: Worktree,
  begin: { index?: string; sparse: boolean },
): Promise<SnapshotAnswer> {
  const { path, git: places } = worktree.workspace;
  const call = { cwd: places.commonDirectory, gitDirectory: places.commonDirectory };
  const head = await readHead(worktree);
  if (head === undefined) return { type: 'unreadable', reason: 'HEAD names no commit' };
  const place = { folder: path, gitDirectory: places.commonDirectory, commit: head, ...begin };
  const [committed, now] = await Promise.all([
    context.git.run(['rev-parse', '--verify', '--quiet', `${head}^{tree}`], call),
    readTree(context, place),
  ]);
  if (committed.code !== 0) return { type: 'unreadable', reason: `the commit ${head} is not there` };
  if (now.type !== 'tree') return now;
  return { type: 'snapshot', head, tree: now.tree, clean: now.tree === committed.stdout.trim() };
}

/** All files of a folder as a tree, except ignored ones. No filter runs: bytes are stored as they are. */
export async function readTree(
  { git, temporary }: Pick<GitContext, 'git' | 'temporary'>,
  place: Place,
): Promise<TreeAnswer> {
  const index = join(temporary, `index-${randomUUID()}`);
  // Also for `read-tree`, which runs filters on files as new as the index.
  const environment = { ...(await neutralDrivers(git, place.gitDirectory)), ...place.environment };
  const call = { cwd: place.folder, gitDirectory: place.gitDirectory, workTree: place.folder, index, environment };
  try {
    const copied = place.index !== undefined && (await copyIndex(place.index, index));
    // Adds files that were committed although they are ignored. `-i`: without looking at the folder.
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

/** Keeps the times, because git considers a file unchanged only if it is older than the index. */
async function copyIndex(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to);
    const { atime, mtime } = await stat(from);
    await utimes(to, atime, mtime);
    return true;
  } catch {
    // Without the index git reads every file, which is slower but correct.
    return false;
  }
}
