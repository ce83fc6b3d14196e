import { failpoint } from '../system/failpoint.ts';
import { withScratch } from '../system/files/scratch.ts';
import { scratchLabel } from '../system/process/left-scratch.ts';
import { createGit, findObject, oneLine, type GitPorts } from './git-call.ts';
import { callOn } from './git-context.ts';
import { lockedError, lockIn } from './git-locks.ts';
import { prepareCalls } from './merge-calls.ts';
import { makeMerge, mergedAs } from './merge-checkout.ts';
import type { BranchCheckout, MergeAnswer, MergeOrder } from './merge-order.ts';
import type { Checkout, Repository } from './repository.ts';
import { syncRef } from './sync-ref.ts';

/** A branch by its name. `path`: the checkout that has it; undefined: none has. */
export async function findBranch(
  ports: GitPorts,
  { commonDirectory }: Checkout,
  branch: string,
): Promise<{ readonly head: string; readonly path?: string } | undefined> {
  const format = '--format=%(refname) %(objectname) %(worktreepath)';
  // A pattern also finds what is below it.
  const pattern = `refs/heads/${branch.replaceAll(/[*?[\]\\]/g, '?')}`;
  const listed = await createGit(ports).text(['for-each-ref', format, pattern], callOn(commonDirectory));
  const own = listed.split('\n').find((line) => line.startsWith(`refs/heads/${branch} `));
  if (own === undefined) return undefined;
  const [head = '', ...path] = own.slice(`refs/heads/${branch} `.length).split(' ');
  return path.join(' ') === '' ? { head } : { head, path: path.join(' ') };
}

/** Finds what a merge at `head` would come to. Changes nothing of the repository. */
export async function tryMerge(
  ports: GitPorts,
  repository: Repository,
  head: string,
  order: MergeOrder,
): Promise<MergeAnswer> {
  const git = createGit(ports);
  const work = async (folder: string): Promise<MergeAnswer> => {
    const made = await makeMerge(git, await prepareCalls(ports, git, repository, folder), head, order);
    return typeof made === 'string' ? mergedAs(order, head, made) : made;
  };
  return withScratch(ports.stateDirectory, work, scratchLabel('merge'));
}

/**
 * Merges into a branch that no checkout has, and writes no file of one. The branch moves in one step, once the objects are on the disk:
 * after a kill it is where it was, or has all of it, and the same call again finishes the work.
 */
export async function mergeIntoBranch(
  ports: GitPorts,
  repository: Repository,
  { branch, head }: Pick<BranchCheckout, 'branch' | 'head'>,
  order: MergeOrder,
): Promise<MergeAnswer> {
  const git = createGit(ports);
  const ref = `refs/heads/${branch}`;
  const work = async (folder: string): Promise<MergeAnswer> => {
    const calls = await prepareCalls(ports, git, repository, folder);
    const made = await makeMerge(git, calls, head, order);
    if (typeof made !== 'string') return made;
    await calls.share();
    failpoint('merge.ready');
    const moved = await git.run(['update-ref', '-m', 'squad merge', ref, made, head], calls.checkout);
    if (moved.code === 0) {
      await syncRef(repository.commonDirectory, ref, new Set());
      return mergedAs(order, head, made);
    }
    const lock = lockIn(moved.stderr);
    if (lock !== undefined) throw lockedError(lock);
    const now = await findObject(git, calls.checkout, `${ref}^{commit}`);
    return now === head ? { type: 'refused', why: oneLine(moved.stderr) } : { type: 'moved' };
  };
  return withScratch(ports.stateDirectory, work, scratchLabel('merge'));
}
