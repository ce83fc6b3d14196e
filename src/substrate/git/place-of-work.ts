import { createGit, findObject, requireCommitId, type GitPorts } from './git-call.ts';
import { callOn, runBranch } from './git-context.ts';
import type { Checkout } from './repository.ts';

/** Where the work of a run is that has delivered `head` last. Only history counts here, because that takes no time. */
export async function placeOfWork(
  ports: GitPorts,
  { commonDirectory }: Pick<Checkout, 'commonDirectory'>,
  run: string,
  head: string,
): Promise<'branch' | 'merged' | 'gone'> {
  const [git, call] = [createGit(ports), callOn(commonDirectory)];
  if ((await findObject(git, call, runBranch(run))) === undefined) return 'gone';
  const merged = await git.run(['merge-base', '--is-ancestor', requireCommitId(head), 'HEAD'], call);
  return merged.code === 0 ? 'merged' : 'branch';
}
