import { copyFile, mkdir, readdir, readFile, rename, rm, rmdir, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { defined } from '../../text/defined.ts';
import { type SquadError, wrongEnvironment } from '../../model/errors.ts';
import { workspaceSchema } from '../../model/turn-request.ts';
import { failpoint } from '../failpoint.ts';
import { exists } from '../files/exists.ts';
import { deleteFolder } from '../files/remove-tree.ts';
import { hashOf, readHead } from './baseline.ts';
import { findObject, gitFailed, isCommitId, requireCommitId, requireName } from './git-call.ts';
import { commonCall, notePath, worktreePath, type GitContext } from './git-context.ts';
import { neutralDrivers } from './neutral-settings.ts';
import type { Worktree } from '../ports/workspaces.ts';

/** The user's own `git worktree add` may still interfere. */
const TRIES = 3;

const worktreeSchema = z.object({
  run: z.string(),
  task: z.string(),
  base: z.string().refine(isCommitId),
  workspace: workspaceSchema.required({ git: true }),
  configHash: z.string(),
  resetFor: z.string().optional(),
  remade: z.number().int().optional(),
});

/**
 * The task's worktree, created if it does not exist. The note `<task>.adding` exists while it is created, and `<task>.json` from
 * then on. They distinguish a crash in between from a foreign folder and from a worktree in which an agent worked.
 */
export async function addWorktree(
  context: GitContext,
  place: { run: string; task: string; commit: string; kept?: string | undefined; resetFor?: string; remade?: number },
): Promise<Worktree> {
  const { run, task } = place;
  const commit = requireCommitId(place.commit);
  const path = worktreePath(context, requireName(run), requireTask(task));
  await mkdir(dirname(notePath(context, run, task)), { recursive: true, mode: 0o700 });
  const problem = await finishHalfMade(context, run, task);
  if (problem !== undefined) throw foreign(path, problem);
  const known = await readNote(context, run, task);
  if (known !== undefined && (await holdsSomething(path))) return known;
  if (known === undefined && (await exists(path))) throw foreign(path);
  // If the folder was deleted, the task continues from its last commit or from the one that the engine kept.
  const head = known === undefined ? undefined : await readHead(known);
  const start = head ?? (await keptCommit(context, place.kept)) ?? commit;
  if (known !== undefined) await discardWorktree(context, run, task);
  await writeFile(notePath(context, run, `${task}.adding`), context.marker, { mode: 0o600 });
  failpoint('git.before-worktree');
  // Read in parallel; an error is thrown where the result is used.
  const drivers = neutralDrivers(context.git, context.commonDirectory);
  drivers.catch(() => undefined);
  const directory = await register(context, path, start);
  failpoint('git.worktree-registered');
  try {
    await checkOut(context, path, directory, start, await drivers);
    failpoint('git.worktree-filled');
    const made =
      known === undefined ? { base: commit, resetFor: place.resetFor, remade: place.remade } : remadeOf(known);
    const worktree = await noteDown(context, { run, task, ...made, path, directory });
    failpoint('git.after-worktree');
    return worktree;
  } catch (error) {
    await discardWorktree(context, run, task);
    throw error;
  }
}

function remadeOf({ base, resetFor, remade = 0 }: Worktree): Pick<Worktree, 'base' | 'resetFor' | 'remade'> {
  return { base, resetFor, remade: remade + 1 };
}

/** Sets the tracked files of a folder to a commit, whatever state it is in. Only for folders whose work is kept. */
export async function checkOut(
  context: GitContext,
  path: string,
  directory: string,
  commit: string,
  drivers?: Readonly<Record<string, string>>,
): Promise<void> {
  const environment = drivers ?? (await neutralDrivers(context.git, context.commonDirectory));
  const call = { cwd: path, gitDirectory: directory, workTree: path, environment };
  // `--detach`: if HEAD is symbolic, this must not move a branch.
  await context.git.text(['checkout', '--quiet', '--force', '--detach', '--no-recurse-submodules', commit, '--'], call);
}

/** Deletes untracked files and repositories in a folder; ignored ones stay. */
export async function clean(context: GitContext, path: string, directory: string): Promise<void> {
  await context.git.text(['clean', '-ffdq'], { cwd: path, gitDirectory: directory, workTree: path });
}

/** Marks a worktree whose work is kept, so that after a crash the next engine deletes what is left of it. */
export async function disown(context: GitContext, run: string, task: string): Promise<void> {
  await writeFile(notePath(context, run, `${task}.adding`), context.marker, { mode: 0o600 });
  await rm(notePath(context, run, `${task}.json`), { force: true });
}

/** Deletes the folder, git's entry and the notes. Checks nothing: the caller has kept the work. Returns why it failed. */
export async function discardWorktree(context: GitContext, run: string, task: string): Promise<string | undefined> {
  const path = worktreePath(context, run, task);
  return context.lock.hold(async () => {
    const problem = await deleteFolder(path);
    if (problem !== undefined) return problem;
    failpoint('git.half-removed');
    await forget(context.commonDirectory, path);
    // Last, because the next call finds by it that there is something to finish.
    for (const name of ['index', 'json', 'adding'])
      await rm(notePath(context, run, `${task}.${name}`), { force: true });
    return undefined;
  });
}

/** undefined: no such worktree, or an unfinished one. */
export async function readNote(context: GitContext, run: string, task: string): Promise<Worktree | undefined> {
  const text = await readFile(notePath(context, run, `${task}.json`), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : worktreeSchema.parse(JSON.parse(text));
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
  return discardWorktree(context, run, task);
}

/** Ends the git processes of a killed engine, which keep writing, before its files are touched. */
export async function endProcesses(context: GitContext, marker: string): Promise<void> {
  if (marker === '' || marker === context.marker) return;
  const alive = await context.processes.sweep(marker);
  if (alive.length === 0) return;
  throw wrongEnvironment(
    `git processes of an earlier squad do not end: ${alive.join(', ')}`,
    `Look at them with \`ps -p ${alive.join(',')}\`, end them, and try again.`,
  );
}

/** Registers the worktree without files. Checkouts follow outside the lock, so that large ones run in parallel. */
async function register(context: GitContext, path: string, commit: string): Promise<string> {
  return context.lock.hold(async () => {
    // Without a branch git refuses `--no-track`, and needs none.
    const args = ['worktree', 'add', '--quiet', '--detach', '--no-checkout', '--no-guess-remote', '--', path, commit];
    for (let tries = 1; ; tries += 1) {
      const added = await context.git.run(args, commonCall(context));
      const pointer = await readFile(join(path, '.git'), 'utf8').catch(() => '');
      const directory = /^gitdir: (.+)\n$/.exec(pointer)?.[1];
      if (added.code === 0 && directory !== undefined) return directory;
      await deleteFolder(path);
      await forget(context.commonDirectory, path);
      if (tries < TRIES) continue;
      await rm(notePath(context, basename(dirname(path)), `${basename(path)}.adding`), { force: true });
      throw gitFailed(args, added);
    }
  });
}

/**
 * Removes git's entry for a path, as `git worktree remove` and `prune` do, but for this path only: a user's worktree may be on a
 * disk that is not mounted. Also removes an entry without `gitdir`, which a killed git leaves and on which every git fails.
 */
async function forget(commonDirectory: string, path: string): Promise<void> {
  const folder = join(commonDirectory, 'worktrees');
  const own = basename(path);
  for (const name of await readdir(folder).catch(() => [])) {
    const gitdir = await readFile(join(folder, name, 'gitdir'), 'utf8').catch(() => undefined);
    const unfinished = (gitdir ?? '') === '' && name.startsWith(own) && /^\d*$/.test(name.slice(own.length));
    if (gitdir?.trimEnd() === join(path, '.git') || unfinished) await deleteFolder(join(folder, name));
  }
  // As git does. Fails while there are other worktrees.
  await rmdir(folder).catch(() => undefined);
}

/** Writes the note about a worktree by rename, so that it is complete or absent. */
export async function noteDown(
  context: GitContext,
  made: Pick<Worktree, 'run' | 'task' | 'base' | 'resetFor' | 'remade'> & { path: string; directory: string },
): Promise<Worktree> {
  const { run, task, base, path, directory } = made;
  const config = join(directory, 'config.worktree');
  // It must exist so that a sandbox can keep it read-only. An agent that created it would configure the engine's git.
  await writeFile(config, '', { flag: 'a' });
  const index = notePath(context, run, `${task}.index`);
  await copyIndex(join(directory, 'index'), index);
  const worktree: Worktree = {
    run,
    task,
    base,
    workspace: { path, git: { commonDirectory: context.commonDirectory, worktreeDirectory: directory } },
    configHash: (await hashOf(config)) ?? '',
    ...defined({ resetFor: made.resetFor, remade: made.remade }),
  };
  const note = notePath(context, run, `${task}.json`);
  await writeFile(`${note}.new`, `${JSON.stringify(worktree)}\n`, { mode: 0o600 });
  await rename(`${note}.new`, note);
  await rm(notePath(context, run, `${task}.adding`), { force: true });
  return worktree;
}

/** Keeps the times, because git considers a file unchanged only if it is older than the index. */
export async function copyIndex(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  const { atime, mtime } = await stat(from);
  await utimes(to, atime, mtime);
}

/** The task name of the integration worktree. No task can have it. */
export const INTEGRATION = '_integration';

function requireTask(task: string): string {
  return task === INTEGRATION ? task : requireName(task);
}

function foreign(path: string, problem?: string): SquadError {
  return wrongEnvironment(
    problem === undefined ? `${path} is in the way: squad did not create it` : `${path} cannot be deleted: ${problem}`,
    'Look at it, move it away, and try again.',
  );
}

/** The kept commit; undefined if there is none, or if it was deleted since. */
async function keptCommit(context: GitContext, kept: string | undefined): Promise<string | undefined> {
  if (kept === undefined) return undefined;
  return findObject(context.git, commonCall(context), `${requireCommitId(kept)}^{commit}`);
}

/** An empty folder counts as deleted. */
async function holdsSomething(path: string): Promise<boolean> {
  if (!(await exists(path))) return false;
  const names = await readdir(path).catch(() => undefined);
  return names === undefined || names.length > 0;
}
