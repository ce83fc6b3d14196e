import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { defined } from '../../text/defined.ts';
import { type SquadError, wrongEnvironment } from '../../model/errors.ts';
import { workspaceSchema } from '../../model/turn-request.ts';
import { failpoint } from '../failpoint.ts';
import { exists } from '../files/exists.ts';
import { deleteFolder } from '../files/remove-tree.ts';
import { isCommitId, requireCommitId, requireName, type GitCall } from './git-call.ts';
import { folderPath, notePath, type GitContext, type RunRepository } from './git-context.ts';
import { disarm, hasGitDirectory, isFolder, makeGitDirectory, type Folder } from './git-directory.ts';
import { endProcesses, openRun } from './open-run.ts';
import { know } from './run-repository.ts';
import type { TaskFolder } from '../ports/workspaces.ts';

const folderSchema = z.object({
  run: z.string(),
  task: z.string(),
  base: z.string().refine(isCommitId),
  workspace: workspaceSchema,
  resetFor: z.string().optional(),
  remade: z.number().int().optional(),
});

/**
 * The task's folder, created if it does not exist. The note `<task>.adding` exists while it is created, and `<task>.json` from
 * then on. They distinguish a crash in between from a foreign folder and from a folder in which an agent worked.
 */
export async function addFolder(
  context: GitContext,
  place: { run: string; task: string; commit: string; kept?: string | undefined; resetFor?: string; remade?: number },
): Promise<TaskFolder> {
  const { run, task } = place;
  const commit = requireCommitId(place.commit);
  const path = folderPath(context, requireName(run), requireTask(task));
  const repository = await openRun(context, run);
  const problem = await finishHalfMade(context, run, task);
  if (problem !== undefined) throw foreign(path, problem);
  const known = await readNote(context, run, task);
  const kept = await keptCommit(repository, place.kept);
  if (known !== undefined && (await holdsSomething(path))) {
    const folder = { task, path };
    if (!(await hasGitDirectory(context, repository, folder)))
      await standAt(context, repository, folder, kept ?? known.base);
    await disarm(repository, path);
    return known;
  }
  if (known === undefined && (await exists(path))) throw foreign(path);
  // If the folder was deleted, the task continues from the commit that the engine kept.
  const start = kept ?? commit;
  if (known !== undefined) await discardFolder(context, run, task);
  await writeFile(notePath(context, run, `${task}.adding`), context.marker, { mode: 0o600 });
  failpoint('git.before-folder');
  try {
    await know(repository, start);
    await mkdir(path, { mode: 0o700 });
    await fillFolder(context, repository, { task, path }, start);
    failpoint('git.folder-filled');
    await makeGitDirectory(context, repository, { task, path }, start);
    const made =
      known === undefined ? { base: commit, resetFor: place.resetFor, remade: place.remade } : remadeOf(known);
    const folder = await noteDown(context, { run, task, ...made, workspace: { path, repository: true } });
    failpoint('git.after-folder');
    return start === commit ? { ...folder, fresh: true } : folder;
  } catch (error) {
    await discardFolder(context, run, task);
    throw error;
  }
}

function remadeOf({ base, resetFor, remade = 0 }: TaskFolder): Pick<TaskFolder, 'base' | 'resetFor' | 'remade'> {
  return { base, resetFor, remade: remade + 1 };
}

/** A call on a folder's files, with the engine's index of them. */
function callIn(context: GitContext, { run, call }: RunRepository, { task, path }: Folder): GitCall {
  return { ...call, cwd: path, workTree: path, index: notePath(context, run, `${task}.index`) };
}

/** Sets the tracked files of a folder to a commit, whatever state it is in. Only for folders whose work is kept. */
export async function fillFolder(
  context: GitContext,
  repository: RunRepository,
  folder: Folder,
  commit: string,
): Promise<void> {
  if (!(await isFolder(folder.path))) throw foreign(folder.path, 'it is not a folder');
  const call = callIn(context, repository, folder);
  await rm(`${call.index}.lock`, { force: true });
  await context.git.text(['read-tree', '--reset', '-u', commit], call);
}

/** Moves HEAD of a folder to a commit, and its index to the same or another one. The files stay. */
export async function standAt(
  context: GitContext,
  repository: RunRepository,
  folder: Folder,
  commit: string,
  index = commit,
): Promise<void> {
  await context.git.text(['read-tree', '-i', '-m', index], callIn(context, repository, folder));
  await makeGitDirectory(context, repository, folder, commit);
}

/** Deletes untracked files and repositories in a folder; ignored ones stay. */
export async function clean(context: GitContext, repository: RunRepository, folder: Folder): Promise<void> {
  await context.git.text(['clean', '-ffdq'], callIn(context, repository, folder));
}

/** Marks a folder whose work is kept, so that after a crash the next engine deletes what is left of it. */
export async function disown(context: GitContext, run: string, task: string): Promise<void> {
  await writeFile(notePath(context, run, `${task}.adding`), context.marker, { mode: 0o600 });
  await rm(notePath(context, run, `${task}.json`), { force: true });
}

/** Deletes the folder and the notes. Checks nothing: the caller has kept the work. Returns why it failed. */
export async function discardFolder(context: GitContext, run: string, task: string): Promise<string | undefined> {
  const problem = await deleteFolder(folderPath(context, run, task));
  if (problem !== undefined) return problem;
  failpoint('git.half-removed');
  for (const name of ['view', 'git-new', 'git-old']) await deleteFolder(notePath(context, run, `${task}.${name}`));
  // `adding` last, because the next call finds by it that there is something to finish.
  for (const name of ['index', 'index.lock', 'json', 'json.new', 'adding']) {
    await rm(notePath(context, run, `${task}.${name}`), { force: true });
  }
  return undefined;
}

/** undefined: no such folder, or an unfinished one. */
export async function readNote(context: GitContext, run: string, task: string): Promise<TaskFolder | undefined> {
  const text = await readFile(notePath(context, run, `${task}.json`), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : folderSchema.parse(JSON.parse(text));
}

/** Its creation or deletion has begun and not ended. */
export async function isHalfMade(context: GitContext, run: string, task: string): Promise<boolean> {
  return (await exists(notePath(context, run, `${task}.adding`))) && (await readNote(context, run, task)) === undefined;
}

/** Deletes what a dead engine began to create or to delete. Returns why it failed; undefined: nothing is left. */
export async function finishHalfMade(context: GitContext, run: string, task: string): Promise<string | undefined> {
  const marker = await readFile(notePath(context, run, `${task}.adding`), 'utf8').catch(() => undefined);
  if (marker === undefined) return undefined;
  // The creation had ended except for this note, or the deletion had not begun.
  if ((await readNote(context, run, task)) !== undefined) {
    await rm(notePath(context, run, `${task}.adding`), { force: true });
    return undefined;
  }
  await endProcesses(context, marker);
  return discardFolder(context, run, task);
}

/** Writes the note about a folder by rename, so that it is complete or absent. */
export async function noteDown(context: GitContext, folder: TaskFolder): Promise<TaskFolder> {
  const { run, task } = folder;
  const note = notePath(context, run, `${task}.json`);
  await writeFile(`${note}.new`, `${JSON.stringify(folder)}\n`, { mode: 0o600 });
  await rename(`${note}.new`, note);
  await rm(notePath(context, run, `${task}.adding`), { force: true });
  return defined(folder);
}

/** The task name of the integration folder. No task can have it. */
export const INTEGRATION = '_integration';

function requireTask(task: string): string {
  return task === INTEGRATION ? task : requireName(task);
}

function foreign(path: string, problem?: string): SquadError {
  return wrongEnvironment(
    problem === undefined ? `${path} is in the way: squad did not create it` : `${path} cannot be used: ${problem}`,
    'Look at it, move it away, and try again.',
  );
}

/** The kept commit; undefined if there is none, or if it was deleted since. */
async function keptCommit({ talk }: RunRepository, kept: string | undefined) {
  return kept === undefined ? undefined : talk.find(`${requireCommitId(kept)}^{commit}`);
}

/** An empty folder counts as deleted. */
async function holdsSomething(path: string): Promise<boolean> {
  if (!(await exists(path))) return false;
  const names = await readdir(path).catch(() => undefined);
  return names === undefined || names.length > 0;
}
