import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { discardFolder } from './discard-folder.ts';
import { join } from 'node:path';
import { errorText, type SquadError, wrongEnvironment } from '../../model/errors.ts';
import { failpoint } from '../system/failpoint.ts';
import { exists } from '../system/files/exists.ts';
import { deleteFolder } from '../system/files/remove-tree.ts';
import { ENGINE_FOLDERS, noteDown, readNote } from './folder-note.ts';
import { requireCommitId, requireName, type GitCall } from './git-call.ts';
import { folderPath, type GitContext, notePath, type RunRepository } from './git-context.ts';
import {
  borrowedStores,
  copyIndex,
  copyTimes,
  disarm,
  hasGitDirectory,
  isFolder,
  makeGitDirectory,
} from './git-directory.ts';
import { requireRoom } from './folder-room.ts';
import { openRun } from './open-run.ts';
import type { TaskFolder, Workspaces } from '../ports/workspaces.ts';
import { openPlainFolder, textOfPath } from '../system/files/plain-folder.ts';
import { findChanges, readIndex } from './read-folder.ts';
import type { Cone } from '../../text/cone.ts';
import { coneOf, isWhole } from './sparse-cone.ts';
import { noteFilled, takeSpare } from './spare/spare-folders.ts';

/**
 * The task's folder, created if it does not exist. The note `<task>.adding` says that squad made it, and `<task>.json` that it is
 * complete: without the second one, a creation or a deletion was cut short.
 */
export async function addFolder(
  context: GitContext,
  place: Parameters<Workspaces['addFolder']>[0] & { resetFor?: string; remade?: number },
): Promise<TaskFolder> {
  const { run, task } = place;
  const commit = requireCommitId(place.commit);
  const path = folderPath(context, requireName(run), ENGINE_FOLDERS.includes(task) ? task : requireName(task));
  const repository = await openRun(context, run);
  const problem = (await isHalfMade(context, run, task)) ? await discardFolder(context, run, task) : undefined;
  if (problem !== undefined) throw foreign(path, problem);
  const known = await readNote(context, run, task);
  if (known !== undefined && place.inUse === true && (await hasGitDirectory(context, run, task))) return known;
  // If the folder was deleted, the task continues from the commit that the engine kept, if that is still there.
  const kept =
    known?.left ??
    (place.kept === undefined ? undefined : await repository.talk.find(`${requireCommitId(place.kept)}^{commit}`));
  if (known !== undefined && (await holdsSomething(path))) {
    if (!(await hasGitDirectory(context, run, task))) await standAt(context, repository, task, kept ?? known.base);
    await disarm(context, repository, task);
    return known;
  }
  if (known === undefined && (await exists(path))) throw foreign(path);
  if (known !== undefined) await discardFolder(context, run, task);
  const { base, resetFor, remade } =
    known === undefined ? { ...place, base: commit } : { ...known, remade: (known.remade ?? 0) + 1 };
  // The engine checks what it asks for; the work of a task still began where it began.
  const begun = ENGINE_FOLDERS.includes(task) ? commit : base;
  const start = kept ?? commit;
  await disown(context, run, task);
  failpoint('git.before-folder');
  try {
    if (!(await takeSpare(context, repository, place))) {
      requireRoom(context, task, start);
      await mkdir(path, { mode: 0o700 });
    }
    await fill(context, repository, task, start);
    noteFilled(context, place);
    failpoint('git.folder-filled');
    await makeGitDirectory(context, repository, task, start);
    const folder = await noteDown(context, {
      run,
      task,
      base: begun,
      resetFor,
      remade,
      workspace: { path, repository: true },
    });
    failpoint('git.after-folder');
    return start === commit ? { ...folder, fresh: true } : folder;
  } catch (error) {
    await discardFolder(context, run, task);
    throw error;
  }
}

/**
 * Runs git on a copy of the engine's index of a folder's files, which then replaces it. `place`: where git thinks that the files
 * are, instead of an empty folder.
 */
async function changeIndex(
  context: GitContext,
  repository: RunRepository,
  task: string,
  args: readonly string[],
  place?: string,
): Promise<void> {
  const { run, call, directory } = repository;
  const scratch = notePath(context, run, `${task}.fill`);
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { mode: 0o700 });
  const [old, index] = [notePath(context, run, `${task}.index`), join(scratch, 'index')];
  if (await exists(old)) copyIndex(old, index);
  const workTree = place ?? scratch;
  const readable = [directory, ...(await borrowedStores(context, repository))];
  const cage = place === undefined ? {} : { cage: { writable: [place, scratch], readable } };
  await context.git.text(args, { ...call, cwd: workTree, workTree, index, ...cage });
  const cone = place === undefined ? coneOf(repository, task) : undefined;
  if (cone !== undefined) await leaveOut(context, { ...call, cwd: workTree, workTree, index }, cone, args.at(-1) ?? '');
  // Without a look at the files the index is as old as before: what may have changed since is read again.
  if (place === undefined && (await exists(old))) copyTimes(old, index);
  renameSync(index, old);
  rmSync(scratch, { recursive: true, force: true });
}

/** Marks what a sparse checkout does not have, which a git that looks at no file does not do. */
async function leaveOut(
  { git }: GitContext,
  call: GitCall & { readonly index: string },
  cone: Cone,
  commit: string,
): Promise<void> {
  const out = [...(readIndex(call.index, commit)?.file.entries.values() ?? [])].filter(
    ({ path, skipped }) => !skipped && !cone.has(path),
  );
  if (out.length === 0) return;
  const input = `${call.index}.out`;
  writeFileSync(input, out.map(({ path }) => `${path}\0`).join(''), 'latin1');
  await git.text(['update-index', '-z', '--skip-worktree', '--stdin'], { ...call, input });
}

/** Sets the tracked files of a folder to a commit, whatever state it is in. */
async function fill(context: GitContext, repository: RunRepository, task: string, commit: string): Promise<void> {
  const path = folderPath(context, repository.run, task);
  if (!(await isFolder(path))) throw foreign(path, 'it is not a folder');
  const all = isWhole(context, task) ? ['-c', 'core.sparseCheckout=false'] : [];
  await changeIndex(context, repository, task, [...all, 'read-tree', '--reset', '-u', commit], path);
}

/** Brings a folder to a commit, whatever is in it; ignored files stay. Only for folders whose work is kept. */
export async function bringTo(context: GitContext, folder: TaskFolder, commit: string): Promise<TaskFolder> {
  const { run, task } = folder;
  const repository = await openRun(context, run);
  await fill(context, repository, task, requireCommitId(commit));
  await clearFolder(context, repository, task, commit);
  await makeGitDirectory(context, repository, task, commit);
  return noteDown(context, { ...folder, base: commit });
}

/** Moves HEAD of a folder to a commit, and its index to the same or another one. The files stay. */
export async function standAt(
  context: GitContext,
  repository: RunRepository,
  task: string,
  commit: string,
  index = commit,
): Promise<void> {
  await changeIndex(context, repository, task, ['read-tree', '-i', '-m', index]);
  await makeGitDirectory(context, repository, task, commit);
}

/** Marks a folder that holds no work that is not kept, so that after a crash the next engine deletes what is there. */
export async function disown(context: GitContext, run: string, task: string): Promise<void> {
  await writeFile(notePath(context, run, `${task}.adding`), '', { mode: 0o600 });
  await rm(notePath(context, run, `${task}.json`), { force: true });
}

/** Its creation or deletion has begun and not ended. */
export async function isHalfMade(context: GitContext, run: string, task: string): Promise<boolean> {
  const [made, complete] = ['adding', 'json'].map((name) => exists(notePath(context, run, `${task}.${name}`)));
  return (await made) === true && (await complete) === false;
}

function foreign(path: string, problem?: string): SquadError {
  return wrongEnvironment(
    problem === undefined ? `${path} is in the way: squad did not create it` : `${path} cannot be used: ${problem}`,
    'Look at it, move it away, and try again.',
  );
}

/** An empty folder counts as deleted. */
async function holdsSomething(path: string): Promise<boolean> {
  if (!(await exists(path))) return false;
  const names = await readdir(path).catch(() => undefined);
  return names === undefined || names.length > 0;
}

/** Deletes what a folder holds besides a commit; ignored files stay. The caller has kept what is worth it. */
async function clearFolder(
  context: GitContext,
  repository: RunRepository,
  task: string,
  commit: string,
): Promise<void> {
  const { run, call, talk } = repository;
  const folder = folderPath(context, run, task);
  const tree = (await talk.commit(commit))?.tree;
  if (tree === undefined) throw wrongEnvironment(`the commit ${commit} is not there`);
  const index = notePath(context, run, `${task}.index`);
  const found = await findChanges(context, {
    folder,
    call,
    index,
    commit,
    tree,
    cone: coneOf(repository, task),
  });
  if ('type' in found) throw wrongEnvironment(`${folder} cannot be emptied: ${found.reason}`);
  const plain = openPlainFolder(folder);
  try {
    for (const path of found.newRepositories) await deleteFolder(join(folder, textOfPath(path)));
    for (const { path, known } of found.files) if (known === undefined) plain.remove(path);
    for (const path of found.others) plain.remove(path);
    for (const path of found.folders.toReversed()) plain.removeEmpty(path);
  } catch (error) {
    throw wrongEnvironment(`${folder} cannot be emptied: ${errorText(error)}`);
  }
}
