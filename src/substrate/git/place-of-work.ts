import type { WorkPlace } from '../../model/work-place.ts';
import { shellWord } from '../../text/shell-word.ts';
import { createGit, requireCommitId, requireName, type GitPorts } from './git-call.ts';
import { callOn, runBranch } from './git-context.ts';
import { hasWork } from './has-work.ts';
import { openRepository, type Checkout } from './repository.ts';
import { switchAdvice } from './switch-advice.ts';

/** Where the work of a run is that began at `base` and has delivered `delivered` last. Looks at history, and at HEAD alone for changes without one. */
export async function placeOfWork(
  ports: GitPorts,
  { root, commonDirectory }: Checkout,
  { run, base, delivered }: { readonly run: string; readonly base: string; readonly delivered: string },
): Promise<WorkPlace> {
  const [git, call] = [createGit(ports), callOn(commonDirectory)];
  const ref = runBranch(requireName(run));
  const format = '--format=%(objectname) %(worktreepath)';
  const [head = '', ...path] = (await git.text(['for-each-ref', format, ref], call)).split(' ');
  if (head === '') return { at: 'gone' };
  const at = head === delivered ? 'branch' : 'moved';
  const isIn = async (commit: string, other: string): Promise<boolean> =>
    (await git.run(['merge-base', '--is-ancestor', requireCommitId(commit), other], call)).code === 0;
  if (await isIn(head, requireCommitId(base))) return { at: 'reset' };
  const { branch, head: own } = await openRepository(ports, root);
  // A HEAD without a branch, or on the run's own, has merged nothing.
  if (branch === undefined || ref === `refs/heads/${branch}`)
    return { at, before: await switchAdvice(ports, { commonDirectory }) };
  // A squash leaves no history. A later commit may hide it: then `squad merge` finds that all is there.
  const checkout = { commonDirectory };
  const isThere =
    (await isIn(head, own)) || (own !== base && (await hasWork(ports, checkout, { commit: own, of: head, most: 1 })));
  if (!isThere) return { at };
  const elsewhere = path.join(' ');
  return elsewhere === ''
    ? { at: 'merged' }
    : { at: 'merged', before: `git -C ${shellWord(elsewhere)} switch --detach` };
}
