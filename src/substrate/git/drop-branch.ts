import type { CommitLine } from '../ports/workspaces.ts';
import { isElsewhere } from './cleaning.ts';
import { LINE_FORMAT, parseLines } from './evidence.ts';
import {
  createGit,
  findObject,
  gitFailed,
  requireCommitId,
  requireName,
  type Git,
  type GitAnswer,
  type GitCall,
  type GitPorts,
} from './git-call.ts';
import { attemptRef, callOnUser, runBranch } from './git-context.ts';
import { createTalk } from './repository-talk.ts';
import { claimedBy } from './run-claim.ts';
import type { Checkout } from './repository.ts';

export type DroppedBranch =
  | { readonly type: 'absent' }
  /** `kept`: the ref that has its work; null: no ref was asked for. */
  | { readonly type: 'deleted'; readonly head: string; readonly kept: string | null }
  | { readonly type: 'checked-out'; readonly path: string }
  /** It stays: it has commits that the run did not deliver and that no other branch has, newest first. */
  | { readonly type: 'foreign'; readonly head: string; readonly commits: readonly CommitLine[]; readonly more: number };

/** The folder in which the branch of a run is checked out, its head, and the id of the run that claimed the name. */
export async function findRunBranch(ports: GitPorts, { commonDirectory }: Checkout, run: string) {
  const [git, call] = [createGit(ports), callOnUser(commonDirectory)];
  const ref = runBranch(requireName(run));
  const head = await findObject(git, call, `${ref}^{commit}`);
  const path = await git.text(['for-each-ref', '--format=%(worktreepath)', ref], call);
  return { head, path: path === '' ? undefined : path, owner: await claimedBy(git, call, run) };
}

/**
 * Deletes the branch of a run, wherever its work is. `keep`: its commit stays at a ref of the run. `delivered`: what the run put
 * there; commits on top of it are a person's.
 */
export async function dropRunBranch(
  ports: GitPorts,
  repository: Checkout,
  run: string,
  { keep, delivered }: { readonly keep: boolean; readonly delivered: readonly string[] },
): Promise<DroppedBranch> {
  const { head, path } = await findRunBranch(ports, repository, run);
  if (head === undefined) return { type: 'absent' };
  if (path !== undefined) return { type: 'checked-out', path };
  const [git, call] = [createGit(ports), callOnUser(repository.commonDirectory)];
  const foreign = await findForeign(git, call, head, delivered);
  if (foreign.length > 0 && !(await isElsewhere(git, call, head))) {
    return {
      type: 'foreign',
      head,
      commits: foreign.slice(0, MOST_NAMED),
      more: Math.max(0, foreign.length - MOST_NAMED),
    };
  }
  const talk = createTalk(git, call, { ...repository, stateDirectory: ports.stateDirectory });
  try {
    // A run that was opened again has delivered more than once.
    const kept = keep ? attemptRef(run, `delivered-${head.slice(0, 12)}`) : null;
    if (kept !== null) requireMoved(await talk.move(kept, head));
    requireMoved(await talk.move(runBranch(run), null, head));
    return { type: 'deleted', head, kept };
  } finally {
    talk.close();
  }
}

function requireMoved(answer: GitAnswer): void {
  if (answer.code !== 0) throw gitFailed(['update-ref'], answer);
}

/** So many commits are named, and so many are counted. */
const MOST_NAMED = 5;
const MOST_COUNTED = 1000;

async function findForeign(
  git: Git,
  call: GitCall,
  head: string,
  delivered: readonly string[],
): Promise<readonly CommitLine[]> {
  const known: string[] = [];
  for (const id of delivered)
    if ((await findObject(git, call, `${requireCommitId(id)}^{commit}`)) !== undefined) known.push(`^${id}`);
  const args = ['log', ...LINE_FORMAT, `--max-count=${MOST_COUNTED}`, head, ...known, '--'];
  return parseLines(await git.text(args, call));
}
