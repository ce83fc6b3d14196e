import { createGit, findObject, gitFailed, requireName, type GitPorts } from './git-call.ts';
import { attemptRef, callOn, runBranch } from './git-context.ts';
import { claimedBy } from './run-claim.ts';
import type { Checkout } from './repository.ts';

export type DroppedBranch =
  | { readonly type: 'absent' }
  /** `kept`: the ref that has its work; null: no ref was asked for. */
  | { readonly type: 'deleted'; readonly head: string; readonly kept: string | null }
  | { readonly type: 'checked-out'; readonly path: string };

/** The folder in which the branch of a run is checked out, its head, and the id of the run that claimed the name. */
export async function findRunBranch(ports: GitPorts, { commonDirectory }: Checkout, run: string) {
  const [git, call] = [createGit(ports), callOn(commonDirectory)];
  const ref = runBranch(requireName(run));
  const head = await findObject(git, call, `${ref}^{commit}`);
  const path = await git.text(['for-each-ref', '--format=%(worktreepath)', ref], call);
  return { head, path: path === '' ? undefined : path, owner: await claimedBy(git, call, run) };
}

/** Deletes the branch of a run, wherever its work is. `keep`: its commit stays at a ref of the run. */
export async function dropRunBranch(
  ports: GitPorts,
  repository: Checkout,
  run: string,
  keep: boolean,
): Promise<DroppedBranch> {
  const { head, path } = await findRunBranch(ports, repository, run);
  if (head === undefined) return { type: 'absent' };
  if (path !== undefined) return { type: 'checked-out', path };
  const [git, call] = [createGit(ports), callOn(repository.commonDirectory)];
  // A run that was opened again has delivered more than once.
  const kept = keep ? attemptRef(run, `delivered-${head.slice(0, 12)}`) : null;
  const moves = [...(kept === null ? [] : [['update-ref', kept, head]]), ['update-ref', '-d', runBranch(run), head]];
  for (const args of moves) {
    const moved = await git.run(args, call);
    if (moved.code !== 0) throw gitFailed(args, moved);
  }
  return { type: 'deleted', head, kept };
}
