import { readdir, rename, rmdir } from 'node:fs/promises';
import { discardFolder } from './discard-folder.ts';
import { join } from 'node:path';
import { wrongEnvironment } from '../../model/errors.ts';
import { isForeignName } from '../../model/run.ts';
import { failpoint } from '../system/failpoint.ts';
import { deleteFolder } from '../system/files/remove-tree.ts';
import type { DroppedRefs, ListedFolder } from '../ports/workspaces.ts';
import { BASELINE, INTEGRATION, readNote } from './folder-note.ts';
import { isHalfMade } from './folders.ts';
import { requireName, type Git, type GitCall } from './git-call.ts';
import { attemptRef, folderPath, noteLink, notePath, runBranch, userCall, type GitContext } from './git-context.ts';
import { checkoutOf, headOf } from './run-branch.ts';
import { findRun } from './open-run.ts';
import { claimedBy, claimRef } from './run-claim.ts';
import { dropRef, isBookkeeping, isPin, listRefs } from './run-repository.ts';

/** Found by their notes, in the order of their names. */
export async function listFolders(context: GitContext, run: string): Promise<readonly ListedFolder[]> {
  const names = await readdir(notePath(context, requireName(run), '')).catch(() => []);
  const tasks = new Set(names.flatMap((name) => /^(.+)\.(?:json|adding)$/.exec(name)?.[1] ?? []));
  return Promise.all(
    [...tasks].toSorted().map(async (task) => {
      return { run, task, path: folderPath(context, run, task), isHalfMade: await isHalfMade(context, run, task) };
    }),
  );
}

/** Removes a folder in which only the engine works. */
export async function dropOwnFolder(context: GitContext, run: string, task: string): Promise<void> {
  // Its opening may be at work on the same notes.
  await findRun(context, run);
  const note = await readNote(context, requireName(run), task).catch(() => undefined);
  const problem = await discardFolder(context, run, task, note?.base);
  if (problem !== undefined) throw wrongEnvironment(`the folder ${task} of the run cannot be deleted: ${problem}`);
}

/** Returns the names of files in the run's folder that are not squad's. */
export async function closeRun(context: GitContext, run: string): Promise<readonly string[]> {
  const removed = context.integration.then(() => dropOwnFolder(context, run, INTEGRATION));
  context.integration = removed.catch(() => undefined);
  await removed;
  await dropOwnFolder(context, run, BASELINE);
  if ((await listFolders(context, run)).length > 0) return [];
  const repository = await findRun(context, run);
  if (repository !== undefined) {
    // The user's repository has its work.
    for (const ref of (await listRefs(context, run)).filter(isPin)) await dropRef(context, ref);
    context.runs.delete(run);
    repository.talk.close();
    // In one step: half a repository would stop the next engine, and a missing one is made again.
    await deleteFolder(`${repository.directory}.old`);
    await rename(repository.directory, `${repository.directory}.old`);
    failpoint('git.run-aside');
    await deleteFolder(notePath(context, run, ''));
    await deleteFolder(noteLink(context, run));
  }
  const folder = join(context.runsDirectory, run);
  // Missing, or not empty, which the answer shows.
  await rmdir(folder).catch(() => undefined);
  return (await readdir(folder).catch(() => [])).filter((name) => name !== '.squad');
}

/** Deletes the run branch only if its work is on another branch too, so that no delivered work is lost. */
export async function dropRefs(
  context: GitContext,
  run: string,
  keep: readonly string[],
  owner: string,
): Promise<DroppedRefs> {
  const claimed = await claimedBy(context.git, userCall(context), run);
  if (claimed !== undefined && claimed !== owner) {
    return {
      attempts: 0,
      branch: { type: 'kept', head: (await headOf(context, run)) ?? '', why: 'other-run' },
      foreign: [],
    };
  }
  const kept = new Set(keep.map((attempt) => attemptRef(run, attempt)));
  const isOpen = (await findRun(context, run)) !== undefined;
  const all = (await listRefs(context, run)).filter(
    (ref) => !kept.has(ref) && ref !== claimRef(run) && !(isOpen && isPin(ref)),
  );
  const foreign = await findForeign(context, run, all);
  const refs = all.filter((ref) => !foreign.includes(ref));
  for (const ref of refs) await dropRef(context, ref);
  const branch = await dropBranch(context, run);
  // The branch stays claimed for as long as it is there.
  if (claimed !== undefined && branch.type !== 'kept') await dropRef(context, claimRef(run));
  return { attempts: refs.filter((ref) => !isBookkeeping(ref)).length, branch, foreign };
}

/** Refs of what a person had put on the run branch (see `foreignName`), unless a branch of theirs has it. */
async function findForeign(context: GitContext, run: string, refs: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const ref of refs) {
    if (!isForeignName(ref.slice(attemptRef(run, '').length))) continue;
    const commit = await context.talk.find(`${ref}^{commit}`);
    if (commit !== undefined && !(await isElsewhere(context.git, userCall(context), commit))) found.push(ref);
  }
  return found;
}

/** See `Workspaces.dropBranch`. */
export async function dropBranchAt(context: GitContext, run: string, head: string): Promise<boolean> {
  const found = await headOf(context, run);
  if (found === undefined) return true;
  if (found !== head || (await checkoutOf(context, run)) !== undefined) return false;
  await dropRef(context, runBranch(run), head);
  return true;
}

async function dropBranch(context: GitContext, run: string): Promise<DroppedRefs['branch']> {
  const head = await headOf(context, run);
  if (head === undefined) return { type: 'absent' };
  const ref = runBranch(run);
  if ((await checkoutOf(context, run)) !== undefined) return { type: 'kept', head, why: 'checked-out' };
  if (!(await isElsewhere(context.git, userCall(context), head))) return { type: 'kept', head, why: 'unmerged' };
  await dropRef(context, ref, head);
  return { type: 'deleted', head };
}

/** On the user's HEAD, a branch of theirs, or a remote's. Other run branches do not count, because they may be deleted next. */
export async function isElsewhere(git: Git, call: GitCall, head: string): Promise<boolean> {
  if ((await git.run(['merge-base', '--is-ancestor', head, 'HEAD'], call)).code === 0) return true;
  const args = ['for-each-ref', '--format=%(refname)', `--contains=${head}`, 'refs/heads', 'refs/remotes'];
  const refs = (await git.text(args, call)).split('\n');
  return refs.some((name) => name !== '' && !/^refs\/heads\/squad\/|^refs\/remotes\/[^/]+\/squad\//.test(name));
}
