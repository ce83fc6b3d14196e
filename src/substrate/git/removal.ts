import { join, resolve } from 'node:path';
import { realpath } from 'node:fs/promises';
import { failpoint } from '../failpoint.ts';
import { exists } from '../files/exists.ts';
import { readConfinedStart } from '../files/open-confined.ts';
import type { RemovalAnswer, ResetAnswer, Snapshot, SnapshotAnswer, TaskFolder } from '../ports/workspaces.ts';
import {
  addFolder,
  clean,
  discardFolder,
  disown,
  fillFolder,
  finishHalfMade,
  isHalfMade,
  noteDown,
  readNote,
  standAt,
} from './folders.ts';
import { findUsers } from '../process/folder-users.ts';
import { requireCommitId, requireName, findObject, type GitCall } from './git-call.ts';
import { callOn, folderPath, type GitContext, type RunRepository } from './git-context.ts';
import { findForeignStore, makeGitDirectory, makeView, readHead, readRefs, storesOf } from './git-directory.ts';
import { openRun } from './open-run.ts';
import { emptyTree, readRawDiff, REPOSITORY_MODE } from './raw-diff.ts';
import { keep, keepNumbered, readTree, snapshotOf } from './rescue.ts';
import { know } from './run-repository.ts';
import { takeHead } from './take-commit.ts';

export async function moveFolder(
  context: GitContext,
  folder: TaskFolder,
  commit: string,
  attempt: string,
): Promise<TaskFolder | SnapshotAnswer> {
  const { run, task, base } = folder;
  const { path } = folder.workspace;
  const snapshot = await snapshotOf(context, folder);
  if (snapshot.type !== 'snapshot') return snapshot;
  if (snapshot.clean && snapshot.head === commit && base === commit) return folder;
  if (!snapshot.clean || snapshot.head !== base) await keep(context, folder, requireName(attempt), snapshot);
  failpoint('git.rescued');
  const repository = await openRun(context, run);
  await know(repository, requireCommitId(commit));
  await fillFolder(context, repository, { task, path }, commit);
  await clean(context, repository, { task, path });
  await makeGitDirectory(context, repository, { task, path }, commit);
  return noteDown(context, { ...folder, base: commit });
}

export async function standOn(
  context: GitContext,
  { run, task, workspace: { path } }: TaskFolder,
  commit: string,
  index: 'staged' | 'follows',
): Promise<void> {
  const repository = await openRun(context, run);
  const folder = { task, path };
  const head = await takeHead(context, repository, folder);
  await standAt(context, repository, folder, commit, index === 'staged' && head.type === 'head' ? head.commit : commit);
}

type Refused = Extract<RemovalAnswer, { type: 'refused' }>;

export async function removeFolder(
  context: GitContext,
  { run, task }: Pick<TaskFolder, 'run' | 'task'>,
  attempt: string,
): Promise<RemovalAnswer> {
  requireName(attempt);
  const known = await readNote(context, run, task);
  if (known === undefined && !(await isHalfMade(context, run, task))) return { type: 'removed', rescued: false };
  const inUse = refuseInUse(context, run, task);
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

export async function resetFolder(
  context: GitContext,
  { run, task }: TaskFolder,
  order: { commit: string; attempt: string; rescueAs: string },
): Promise<ResetAnswer> {
  const commit = requireCommitId(order.commit);
  const resetFor = requireName(order.attempt);
  const known = await readNote(context, run, task);
  let rescued: string | undefined;
  if (known !== undefined) {
    if (known.resetFor === resetFor && (await exists(known.workspace.path))) return { type: 'ready', folder: known };
    const found = refuseInUse(context, run, task) ?? (await readSafely(context, known));
    if (found?.type === 'refused') return found;
    if (found !== undefined) rescued = await keepNumbered(context, known, { ...order, commit }, found);
    const discarded = await discard(context, known);
    if (discarded.type === 'refused') return discarded;
  }
  const folder = await addFolder(context, { run, task, commit, resetFor });
  return { type: 'ready', folder, ...(rescued === undefined ? {} : { rescued }) };
}

function refuseInUse(context: GitContext, run: string, task: string): Refused | undefined {
  const users = findUsers(folderPath(context, run, task));
  if (users.length === 0) return undefined;
  return { type: 'refused', reason: 'in-use', detail: users.map((pid) => `process ${pid}`) };
}

/** The work to keep before the folder is removed, or why it cannot be kept. undefined: the folder was deleted. */
async function readSafely(context: GitContext, folder: TaskFolder): Promise<Snapshot | Refused | undefined> {
  if (!(await exists(folder.workspace.path))) return undefined;
  const snapshot = await snapshotOf(context, folder);
  if (snapshot.type !== 'snapshot') return { type: 'refused', reason: 'unreadable', detail: [snapshot.reason] };
  const unproven = await findLosses(context, folder, snapshot);
  return unproven.length > 0 ? { type: 'refused', reason: 'repositories', detail: unproven } : snapshot;
}

async function discard(
  context: GitContext,
  folder: TaskFolder,
  answer: { kept?: string; rescued: boolean } = { rescued: false },
): Promise<RemovalAnswer> {
  failpoint('git.before-removal');
  await disown(context, folder.run, folder.task);
  const problem = await discardFolder(context, folder.run, folder.task);
  if (problem !== undefined) return notDeleted(problem);
  failpoint('git.removed');
  return { type: 'removed', ...answer };
}

function notDeleted(problem: string): Refused {
  return { type: 'refused', reason: 'not-deleted', detail: [problem] };
}

/**
 * Repositories in the folder whose content may exist nowhere else. Safe are an empty folder, and a submodule at the commit that
 * the task's base names, without changes and with no branch that the remotes lack.
 */
async function findLosses(
  context: GitContext,
  { run, task, base, workspace }: TaskFolder,
  { tree }: Snapshot,
): Promise<readonly string[]> {
  const repository = await openRun(context, run);
  const now = await repositoriesAt(context, repository.call, tree);
  const losses: string[] = [];
  for (const [path, commit] of now) {
    const folder = join(workspace.path, path);
    if (!(await exists(join(folder, '.git')))) continue;
    const directory = await findOwnDirectory(workspace.path, folder);
    const known = (await repositoriesAt(context, repository.call, base)).get(path) === commit;
    const place = directory !== undefined && known ? { folder, directory, commit, task } : undefined;
    if (place === undefined || !(await isPristine(context, repository, place))) losses.push(path);
  }
  return losses;
}

/** Repositories in a tree, by path, and the commit of each that it names. */
async function repositoriesAt(context: GitContext, call: GitCall, tree: string): Promise<ReadonlyMap<string, string>> {
  const all = await readRawDiff(context, call, emptyTree(tree), tree);
  const found = all.filter((change) => change.newMode === REPOSITORY_MODE);
  return new Map(found.map((change) => [change.path, change.newObject]));
}

async function isPristine(
  context: GitContext,
  repository: RunRepository,
  { folder, directory, commit, task }: { folder: string; directory: string; commit: string; task: string },
): Promise<boolean> {
  const [head, refs] = [await readHead(directory), await readRefs(directory)];
  const fetched = new Set([commit, ...[...refs].filter(([name]) => isRemotes(name)).map(([, id]) => id)]);
  const isOwn = [...refs].some(([name, id]) => !isRemotes(name) && !fetched.has(id));
  if (head.type !== 'head' || head.commit !== commit || isOwn) return false;
  if ((await findForeignStore(directory, storesOf(context, repository))) !== undefined) return false;
  const call = callOn(await makeView(context, repository, task, directory));
  const committed = await findObject(context.git, call, `${commit}^{tree}`);
  const found = await readTree(context, { folder, call, commit });
  if (found.type !== 'tree' || found.tree !== committed) return false;
  const inner = await repositoriesAt(context, call, found.tree);
  const populated = await Promise.all([...inner.keys()].map(async (path) => exists(join(folder, path, '.git'))));
  return !populated.includes(true);
}

/** Tags come with a fetch. */
function isRemotes(ref: string): boolean {
  return /^refs\/(?:remotes|tags)\//.test(ref);
}

/** Longer than any path that the system accepts. */
const MOST_BYTES = 8192;

/** The git directory of a submodule; undefined if it is not below the folder's own, because an agent can write the pointer. */
async function findOwnDirectory(root: string, folder: string): Promise<string | undefined> {
  try {
    const read = await readConfinedStart(folder, '.git', MOST_BYTES);
    const target = read?.cut === false ? /^gitdir: (.+)\n?$/.exec(read.text)?.[1] : undefined;
    if (target === undefined) return undefined;
    const modules = await realpath(join(root, '.git', 'modules'));
    const directory = await realpath(resolve(folder, target));
    return directory.startsWith(`${modules}/`) ? directory : undefined;
  } catch {
    // It points nowhere.
    return undefined;
  }
}
