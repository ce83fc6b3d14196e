import { readdir, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DroppedRefs, HalfMade, TaskFolder } from '../ports/workspaces.ts';
import { isHalfMade, readNote } from './folders.ts';
import { requireName } from './git-call.ts';
import { attemptRef, folderPath, notePath, runBranch, userCall, type GitContext } from './git-context.ts';
import { checkoutOf, headOf } from './run-branch.ts';
import { dropRun, findRun } from './open-run.ts';
import { dropRef, isPin, listRefs } from './run-repository.ts';
import { isAncestor } from './rescue.ts';

/** Found by their notes, in the order of their names. */
export async function listFolders(context: GitContext, run: string): Promise<readonly TaskFolder[]> {
  // Converts the notes of older versions.
  await findRun(context, run);
  const tasks = await notedAs(context, run, '.json');
  const found = await Promise.all(tasks.map(async (task) => readNote(context, run, task)));
  return found.filter((folder) => folder !== undefined);
}

export async function listHalfMade(context: GitContext, run: string): Promise<readonly HalfMade[]> {
  const tasks = await notedAs(context, run, '.adding');
  const half = await Promise.all(tasks.map(async (task) => isHalfMade(context, run, task)));
  return tasks.filter((_, at) => half[at]).map((task) => ({ run, task, path: folderPath(context, run, task) }));
}

async function notedAs(context: GitContext, run: string, ending: '.json' | '.adding'): Promise<readonly string[]> {
  const names = await readdir(notePath(context, requireName(run), '')).catch(() => []);
  return names
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length))
    .toSorted();
}

/** Removes the run's repository and empty folders only; returns the names of what is left. */
export async function removeRunFolder(context: GitContext, run: string): Promise<readonly string[]> {
  await dropRun(context, run);
  const folder = join(context.runsDirectory, requireName(run));
  // Missing, or not empty, which the answer shows.
  await rmdir(folder).catch(() => undefined);
  return (await readdir(folder).catch(() => [])).filter((name) => name !== '.squad');
}

/** Deletes the run branch only if its work is on another branch too, so that no delivered work is lost. */
export async function dropRefs(context: GitContext, run: string, keep: readonly string[]): Promise<DroppedRefs> {
  const kept = new Set(keep.map((attempt) => attemptRef(run, attempt)));
  const isOpen = (await findRun(context, run)) !== undefined;
  const refs = (await listRefs(context, run)).filter((ref) => !kept.has(ref) && !(isOpen && isPin(ref)));
  for (const ref of refs) await dropRef(context, ref);
  return { attempts: refs.filter((ref) => !isPin(ref)).length, branch: await dropBranch(context, run) };
}

async function dropBranch(context: GitContext, run: string): Promise<DroppedRefs['branch']> {
  const head = await headOf(context, run);
  if (head === undefined) return { type: 'absent' };
  const ref = runBranch(run);
  if ((await checkoutOf(context, run)) !== undefined) return { type: 'kept', head, why: 'checked-out' };
  if (!(await isElsewhere(context, head))) return { type: 'kept', head, why: 'unmerged' };
  await dropRef(context, ref, head);
  return { type: 'deleted', head };
}

/** On the user's HEAD, a branch of theirs, or a remote's. Other run branches do not count, because they may be deleted next. */
async function isElsewhere(context: GitContext, head: string): Promise<boolean> {
  const call = userCall(context);
  const user = await context.talk.find('HEAD^{commit}');
  if (user !== undefined && (await isAncestor(context, head, user))) return true;
  const args = ['for-each-ref', '--format=%(refname)', `--contains=${head}`, 'refs/heads', 'refs/remotes'];
  const refs = (await context.git.text(args, call)).split('\n');
  return refs.some((name) => name !== '' && !/^refs\/heads\/squad\/|^refs\/remotes\/[^/]+\/squad\//.test(name));
}

const STALE_MS = 24 * 60 * 60 * 1000;

/**
 * Temporary folders of git processes whose engines died. A git call lasts minutes at most, so a folder that was not touched for
 * a day is unused, whichever repository its engine worked in.
 */
export async function findStaleScratch(stateDirectory: string, now: number): Promise<readonly string[]> {
  const root = join(stateDirectory, 'git-scratch');
  const names = (await readdir(root).catch(() => [])).filter((name) => name.startsWith('squad-git-'));
  const stale: string[] = [];
  for (const name of names) {
    const path = join(root, name);
    const touched = await stat(path).catch(() => undefined);
    if (touched !== undefined && now - touched.mtimeMs > STALE_MS) stale.push(path);
  }
  return stale;
}
