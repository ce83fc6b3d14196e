import { usageError, type SquadError } from '../../model/errors.ts';
import { plainLine } from '../../text/plain-text.ts';
import { shellWord } from '../../text/shell-word.ts';
import { createGit, findObject, type Git, type GitCall, type GitPorts } from './git-call.ts';
import type { Repository } from './repository.ts';

/** Where a run begins, if a person named a commit. */
export interface Beginning extends Pick<Repository, 'head' | 'branch'> {
  /** As the person named it. */
  readonly from: string;
}

/**
 * The commit that a branch, tag, remote branch or id names, and the branch that gets the work: the one that it is or follows, else the one
 * that is checked out. Throws `usage` for what names no commit here.
 */
export async function beginAt(
  ports: GitPorts,
  repository: Repository,
  { from, remotes }: { readonly from: string; readonly remotes: readonly string[] },
): Promise<Beginning> {
  const git = createGit(ports);
  const call = { cwd: repository.root, gitDirectory: repository.commonDirectory };
  if (from.trim() === '')
    throw usageError('--base is empty', 'Name a branch, a tag or a commit: `--base origin/main`.');
  const head = await findObject(git, call, `${from}^{commit}`);
  if (head === undefined) throw await notThere(git, call, repository, from);
  const args = ['rev-parse', '--symbolic-full-name', '--verify', '--quiet', '--end-of-options', from];
  const answer = await git.run(args, call);
  return { from, head, branch: branchIn(answer.stdout.trim(), remotes) ?? repository.branch };
}

/** `refs/heads/a` and `refs/remotes/origin/a` are of the branch `a`. */
function branchIn(ref: string, remotes: readonly string[]): string | undefined {
  const own = /^refs\/heads\/(.+)$/s.exec(ref)?.[1];
  if (own !== undefined) return own;
  const [remote] = remotes.filter((name) => ref.startsWith(`refs/remotes/${name}/`)).toSorted(byLength);
  const name = remote === undefined ? undefined : ref.slice(`refs/remotes/${remote}/`.length);
  return name === 'HEAD' ? undefined : name;
}

/** The remote whose branch a person named, the longest first. */
export function remoteOf(from: string, remotes: readonly string[]): string | undefined {
  return remotes
    .filter((name) => from.replace(/^(?:refs\/)?remotes\//, '').startsWith(`${name}/`))
    .toSorted(byLength)[0];
}

function byLength(one: string, other: string): number {
  return other.length - one.length;
}

/** Commits that `to` has and `from` does not have. */
export async function countCommits(
  ports: GitPorts,
  { root, commonDirectory }: Pick<Repository, 'root' | 'commonDirectory'>,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<number> {
  const args = ['rev-list', '--count', '--end-of-options', to, `^${from}`, '--'];
  return Number(await createGit(ports).text(args, { cwd: root, gitDirectory: commonDirectory }));
}

async function notThere(git: Git, call: GitCall, { shallow }: Repository, from: string): Promise<SquadError> {
  const shown = plainLine(from, 200);
  // A whole id is one, whether it is there or not.
  if ((await findObject(git, call, `${from}^{object}`)) !== undefined) {
    return usageError(`--base ${shown} is not a commit`, 'Name a branch, a tag or a commit: `--base origin/main`.');
  }
  const why = shallow ? ', and the clone is shallow: it has no older history' : '';
  const [other] = await remoteBranches(git, call, from);
  const next =
    other !== undefined
      ? `Name the branch of the remote: \`--base ${shellWord(other)}\`.`
      : shallow
        ? 'Fetch the rest: `git fetch --unshallow --tags`. `git branch -a` and `git tag` say what is there then.'
        : 'See what there is: `git branch -a` and `git tag`. If it is new on the remote, add `--fetch`.';
  return usageError(`--base ${shown}: no branch, tag or commit has that name here${why}`, next);
}

/** Remote branches of that name. */
async function remoteBranches(git: Git, call: GitCall, name: string): Promise<readonly string[]> {
  if (/[*?[\\\s\0]/.test(name)) return [];
  const args = ['for-each-ref', '--format=%(refname:strip=2)', `refs/remotes/*/${name}`];
  const { code, stdout } = await git.run(args, call);
  return code === 0 ? stdout.split('\n').filter((line) => line !== '') : [];
}
