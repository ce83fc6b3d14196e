import type { Machine } from '../../engine/machine.ts';
import { wrongEnvironment } from '../../model/errors.ts';
import { createGit, type GitPorts } from '../../substrate/git/git-call.ts';
import { callOn } from '../../substrate/git/git-context.ts';
import { countCommits } from '../../substrate/git/begin-at.ts';
import { findBranch, mergeIntoBranch, tryMerge } from '../../substrate/git/merge-into-branch.ts';
import type { MergeAnswer } from '../../substrate/git/merge-order.ts';
import { openRepository, type Repository } from '../../substrate/git/repository.ts';
import type { OpenedWorkspace } from '../open-workspace.ts';
import { plainLine } from '../../text/plain-text.ts';

/** The commit at the head of the line, or why it cannot be taken. */
export type Line = { readonly head: string } | { readonly held: string };

const ABSENT = '0'.repeat(40);

/**
 * Brings a commit onto the line of work, which begins there if it is not there yet. A branch that someone has checked out, or whose
 * history is in conflict, is left as it is.
 */
export async function bringToLine(
  ports: GitPorts,
  root: string,
  { branch, commit, message }: { readonly branch: string; readonly commit: string; readonly message: string },
): Promise<Line> {
  const repository = await openRepository(ports, root);
  for (let left = 3; ; left -= 1) {
    const found = await findBranch(ports, repository, branch);
    if (found === undefined) {
      if (await begin(ports, repository, branch, commit)) return { head: commit };
    } else if (found.path === undefined) {
      const order = { run: branch, commit, message };
      const answer = await mergeIntoBranch(ports, repository, { branch, head: found.head }, order);
      if (answer.type === 'merged') return { head: answer.commit };
      if (answer.type === 'already') return { head: found.head };
      if (answer.type !== 'moved') return { held: whyHeld(branch, commit, answer) };
    } else if (found.head === commit) {
      return { head: commit };
    } else {
      return { held: checkedOut(branch, found.path) };
    }
    if (left === 0) throw wrongEnvironment(`the branch ${branch} moves all the time`, 'Find out what moves it.');
  }
}

/** The line next to the checkout, as they are now. */
export interface LineLook {
  readonly repository: Repository;
  readonly branch: string;
  /** undefined: it does not begin yet. */
  readonly found: Awaited<ReturnType<typeof findBranch>>;
}

export async function lookAtLine(
  { composition, repository: { root } }: Pick<OpenedWorkspace<Machine>, 'composition' | 'repository'>,
  branch: string,
): Promise<LineLook> {
  const repository = await openRepository(composition.git, root);
  return { repository, branch, found: await findBranch(composition.git, repository, branch) };
}

/** Why the line could not take the commit that is checked out; undefined: it could. Changes nothing. */
export async function lineObstacle(ports: GitPorts, look: LineLook): Promise<string | undefined> {
  const { repository, branch, found } = look;
  const { head: commit } = repository;
  if (found === undefined || found.head === commit) return undefined;
  if (found.path !== undefined) return checkedOut(branch, found.path);
  const answer = await tryMerge(ports, repository, found.head, { run: branch, commit, message: 'try' });
  return answer.type === 'merged' || answer.type === 'already' ? undefined : whyHeld(branch, commit, answer);
}

/** How many commits of the line the checkout does not have; null: there is no such branch. */
export async function lineAhead(
  ports: GitPorts,
  { repository, branch, found }: LineLook,
): Promise<{ readonly branch: string; readonly ahead: number } | null> {
  if (found === undefined) return null;
  const range = { from: repository.head, to: found.head };
  return { branch, ahead: await countCommits(ports, repository, range) };
}

async function begin(ports: GitPorts, repository: Repository, branch: string, commit: string): Promise<boolean> {
  const args = ['update-ref', '-m', 'squad sprint', `refs/heads/${branch}`, commit, ABSENT];
  return (await createGit(ports).run(args, callOn(repository.commonDirectory))).code === 0;
}

function checkedOut(branch: string, path: string): string {
  return `the branch ${branch} is checked out in ${plainLine(path, 200)}: check out another one there`;
}

function whyHeld(branch: string, commit: string, answer: MergeAnswer): string {
  const id = commit.slice(0, 12);
  switch (answer.type) {
    case 'conflict':
      return `${branch} and ${id} conflict in ${plainLine(answer.files.join(', '), 300)}: merge one into the other yourself`;
    case 'unrelated':
      return `${branch} and ${id} have no commit in common: name another branch in \`sprint.branch\``;
    case 'refused':
      return `git cannot move ${branch}: ${plainLine(answer.why, 300)}`;
    default:
      return `${branch} cannot take ${id} (${answer.type})`;
  }
}
