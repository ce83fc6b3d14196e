import { createGit, findObject, gitFailed, type GitPorts, requireCommitId, requireName } from '../git-call.ts';
import { callOnUser, runBranch } from '../git-context.ts';

export type BranchPlaced =
  | { readonly type: 'placed' }
  /** The branch is at another commit, and stays there. */
  | { readonly type: 'taken'; readonly head: string };

/** Which commit the run's branch is at in a repository; undefined: there is none. */
export async function branchAt(ports: GitPorts, commonDirectory: string, run: string): Promise<string | undefined> {
  return findObject(createGit(ports), callOnUser(commonDirectory), `${runBranch(requireName(run))}^{commit}`);
}

/** Puts the run's branch in a repository at a commit, if it is at `from` (undefined: if there is none) or there already. Safe to repeat. */
export async function placeBranch(
  ports: GitPorts,
  commonDirectory: string,
  { run, commit, from }: { readonly run: string; readonly commit: string; readonly from: string | undefined },
): Promise<BranchPlaced> {
  const git = createGit(ports);
  const at = await branchAt(ports, commonDirectory, run);
  if (at === commit) return { type: 'placed' };
  if (at !== from) return { type: 'taken', head: at ?? '' };
  const before = from ?? '0'.repeat(commit.length);
  const args = ['update-ref', runBranch(run), requireCommitId(commit), before];
  const moved = await git.run(args, callOnUser(commonDirectory));
  if (moved.code === 0) return { type: 'placed' };
  const now = await branchAt(ports, commonDirectory, run);
  if (now === commit) return { type: 'placed' };
  if (now === at) throw gitFailed(args, moved);
  return { type: 'taken', head: now ?? '' };
}

/** Keeps a commit of a run from `git gc`, under a name that is no work of an attempt. */
export async function keepJoined(ports: GitPorts, commonDirectory: string, run: string, commit: string): Promise<void> {
  const ref = `refs/squad/${requireName(run)}/joined.${requireCommitId(commit)}`;
  await createGit(ports).text(['update-ref', ref, commit], callOnUser(commonDirectory));
}
