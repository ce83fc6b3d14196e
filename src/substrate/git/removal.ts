import { join } from 'node:path';
import { discardFolder } from './discard-folder.ts';
import { realpath } from 'node:fs/promises';
import { failpoint } from '../system/failpoint.ts';
import { exists } from '../system/files/exists.ts';
import type { RemovalAnswer, ResetAnswer, Snapshot, SnapshotAnswer, TaskFolder } from '../ports/workspaces.ts';
import { readNote } from './folder-note.ts';
import { addFolder, bringTo, disown, isHalfMade, standAt } from './folders.ts';
import { findUsers } from '../system/process/folder-users.ts';
import { findObject, requireCommitId, requireName } from './git-call.ts';
import { callOn, folderPath, type GitContext, notePath, type RunRepository } from './git-context.ts';
import { borrowedStores, findForeignStore, makeView, storesOfFolders } from './git-directory.ts';
import { readHead, readRefs } from './read-refs.ts';
import { findDirectory } from './nested-repository.ts';
import { treeWithIgnored } from './ignored-files.ts';
import { openRun } from './open-run.ts';
import { emptyTree, readRawDiff, REPOSITORY_MODE } from './raw-diff.ts';
import type { IndexFile } from './index-file.ts';
import { readIndex, readTree } from './read-folder.ts';
import { keepCommits } from './keep-commits.ts';
import { keep, keepNumbered, snapshotOf } from './rescue.ts';
import { hasSideWork, keepSideCommits, NO_SIDE_WORK } from './side-commits.ts';
import { takeHead } from './take-commit.ts';

export async function moveFolder(
  context: GitContext,
  folder: TaskFolder,
  commit: string,
  attempt: string,
): Promise<TaskFolder | SnapshotAnswer> {
  const snapshot = await snapshotOf(context, folder, folder.base);
  if (snapshot.type !== 'snapshot') return snapshot;
  const { base } = folder;
  if (snapshot.clean && snapshot.head === commit && base === commit) return folder;
  if (!snapshot.clean || snapshot.head !== base) await keep(context, folder, attempt, snapshot);
  const repository = await openRun(context, folder.run);
  const { problem } = await keepSideCommits(context, repository, folder.task, { head: snapshot.head, base });
  if (problem !== undefined) return { type: 'unreadable', reason: problem };
  failpoint('git.rescued');
  return bringTo(context, folder, commit);
}

export async function standOn(
  context: GitContext,
  { run, task, base }: TaskFolder,
  commit: string,
  index: 'staged' | 'follows',
): Promise<void> {
  const repository = await openRun(context, run);
  const head = await takeHead(context, repository, task);
  await keepSideCommits(context, repository, task, { head: head.type === 'head' ? head.commit : base, base });
  await standAt(context, repository, task, commit, index === 'staged' && head.type === 'head' ? head.commit : commit);
}

type Refused = Extract<RemovalAnswer, { type: 'refused' }>;
type Place = Pick<TaskFolder, 'run' | 'task'>;

export async function removeFolder(
  context: GitContext,
  place: Place,
  attempt: string,
  failed = false,
): Promise<RemovalAnswer> {
  // Whatever its files are.
  const commits = await keepCommits(context, place, attempt);
  const side = commits.type === 'gone' ? NO_SIDE_WORK : commits.side;
  let answer: RemovalAnswer = { type: 'removed', rescued: false };
  const refused = await takeAway(context, place, async (known, seen) => {
    const found = failed ? await withIgnored(context, known, seen) : seen;
    if (found.clean && found.head === known.base) return;
    answer = { type: 'removed', kept: await keep(context, known, attempt, found), rescued: !found.clean };
  });
  if (refused !== undefined) return refused;
  return hasSideWork(side) ? { ...answer, side } : answer;
}

async function withIgnored(context: GitContext, folder: TaskFolder, seen: Snapshot) {
  const more = await treeWithIgnored(context, folder, seen);
  return more === undefined ? seen : { ...seen, tree: more.tree, clean: false, ignored: more.paths };
}

export async function resetFolder(
  context: GitContext,
  { run, task }: TaskFolder,
  { commit, attempt, rescueAs }: { commit: string; attempt: string; rescueAs: string },
): Promise<ResetAnswer> {
  requireCommitId(commit);
  await openRun(context, run);
  const known = await readNote(context, run, task);
  const isReset = known?.resetFor === requireName(attempt) && (await exists(known.workspace.path));
  if (isReset) return { type: 'ready', folder: known };
  let rescued: string | undefined;
  const refused = await takeAway(context, { run, task }, async (folder, found) => {
    rescued = await keepNumbered(context, folder, { rescueAs, commit }, await withIgnored(context, folder, found));
  });
  if (refused !== undefined) return refused;
  const folder = await addFolder(context, { run, task, commit, resetFor: attempt });
  return { type: 'ready', folder, ...(rescued === undefined ? {} : { rescued }) };
}

/** Deletes a folder once its work is kept, or what is left of a half-made one. Answers why it cannot. */
async function takeAway(
  context: GitContext,
  { run, task }: Place,
  keepWork: (known: TaskFolder, found: Snapshot) => Promise<void>,
): Promise<Refused | undefined> {
  // Ends the git of a dead engine, which may be at work there.
  const repository = await openRun(context, run);
  const known = await readNote(context, run, task);
  if (known === undefined && !(await isHalfMade(context, run, task))) return undefined;
  const path = folderPath(context, run, task);
  const users = findUsers(path);
  if (users.length > 0) return refuse('in-use', ...users.map((pid) => `process ${pid}`));
  if (known !== undefined && (await exists(path))) {
    const found = await snapshotOf(context, known, known.base);
    if (found.type !== 'snapshot') return refuse('unreadable', found.reason);
    const { problem: unread } = await keepSideCommits(context, repository, task, {
      head: found.head,
      base: known.base,
    });
    if (unread !== undefined) return refuse('unreadable', unread);
    const losses = await findLosses(context, repository, known, found);
    if (losses.length > 0) return refuse('repositories', ...losses);
    await keepWork(known, found);
  }
  failpoint('git.before-removal');
  await disown(context, run, task);
  const problem = await discardFolder(context, run, task, known?.base);
  if (problem !== undefined) return refuse('not-deleted', problem);
  failpoint('git.removed');
  return undefined;
}

function refuse(reason: Refused['reason'], ...detail: readonly string[]): Refused {
  return { type: 'refused', reason, detail };
}

/**
 * Repositories in the folder whose content may exist nowhere else. Safe are an empty folder, and a submodule at the commit that
 * the task's base names, without changes and with no branch that the remotes lack.
 */
async function findLosses(
  context: GitContext,
  repository: RunRepository,
  { task, base, workspace, run }: TaskFolder,
  { tree }: Snapshot,
): Promise<readonly string[]> {
  const { call } = repository;
  const losses: string[] = [];
  const index = readIndex(notePath(context, run, `${task}.index`), base)?.file;
  for (const [path, commit] of await readRepositories(context, call, tree, index)) {
    const folder = join(workspace.path, path);
    if (!(await exists(join(folder, '.git')))) continue;
    const directory = await findOwnDirectory(workspace.path, folder);
    const isKnown = (await readRepositories(context, call, base)).get(path) === commit;
    const place = isKnown && directory !== undefined ? { task, folder, directory, commit } : undefined;
    if (place === undefined || !(await isPristine(context, repository, place))) losses.push(path);
  }
  return losses;
}

/** Repositories in a tree, by path, and the commit of each that it names. With an index of a similar tree, git lists only what differs. */
async function readRepositories(
  context: GitContext,
  call: RunRepository['call'],
  tree: string,
  index?: IndexFile,
): Promise<ReadonlyMap<string, string>> {
  const from = index?.tree;
  const found = new Map<string, string>();
  for (const { path, mode, object } of from === undefined ? [] : (index?.entries.values() ?? [])) {
    if (mode === REPOSITORY_MODE) found.set(Buffer.from(path, 'latin1').toString('utf8'), object);
  }
  for (const { path, newMode, newObject } of await readRawDiff(context, call, from ?? emptyTree(tree), tree)) {
    if (newMode === REPOSITORY_MODE) found.set(path, newObject);
    else found.delete(path);
  }
  return found;
}

async function isPristine(
  context: GitContext,
  repository: RunRepository,
  { folder, directory, commit, task }: { folder: string; directory: string; commit: string; task: string },
): Promise<boolean> {
  const head = await readHead(directory);
  const named = await readRefs(directory);
  if (named.cut) return false;
  const refs = [...named.refs];
  // Tags come with a fetch.
  const isFetched = ([name]: [string, string]): boolean => /^refs\/(?:remotes|tags)\//.test(name);
  const safe = new Set([commit, ...refs.filter(isFetched).map(([, id]) => id)]);
  if (head.type !== 'head' || head.commit !== commit || refs.some(([, id]) => !safe.has(id))) return false;
  if ((await findForeignStore(directory, storesOfFolders(context, repository))) !== undefined) return false;
  const view = await makeView(context, repository, task, directory);
  const readable = [join(directory, 'objects'), ...(await borrowedStores(context, repository))];
  const call = { ...callOn(view), cage: { writable: [view, context.temporary], readable } };
  const committed = await findObject(context.git, call, `${commit}^{tree}`);
  if (committed === undefined) return false;
  const found = await readTree(context, { folder, call, commit, tree: committed });
  if (found.type !== 'tree' || found.tree !== committed) return false;
  const inner = [...(await readRepositories(context, call, found.tree)).keys()];
  const populated = await Promise.all(inner.map(async (path) => exists(join(folder, path, '.git'))));
  return !populated.includes(true);
}

/** The git directory of a submodule; undefined if it is not below the folder's own, because an agent can write the pointer. */
async function findOwnDirectory(root: string, folder: string): Promise<string | undefined> {
  const modules = await realpath(join(root, '.git', 'modules')).catch(() => undefined);
  const directory = await findDirectory(folder);
  return modules !== undefined && directory?.startsWith(`${modules}/`) === true ? directory : undefined;
}
