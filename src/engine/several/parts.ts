import { SquadError } from '../../model/errors.ts';
import type { RunDefinition } from '../../model/run.ts';
import { bringCommit, joinCommits, type Joined, type Part, withJoined } from '../../substrate/git/joined/joined.ts';
import { divide, type Divided } from '../../substrate/git/joined/divide.ts';
import type { GitPorts } from '../../substrate/git/git-call.ts';
import { openRepository, type Checkout } from '../../substrate/git/repository.ts';
import { plainLine } from '../../text/plain-text.ts';

export type JoinedRun = Pick<RunDefinition, 'name' | 'repository'> & {
  readonly repositories: NonNullable<RunDefinition['repositories']>;
};

/** A repository of a run, where it is now. */
export interface PlacedPart extends Part {
  readonly root: string;
  /** The branch that is to get the work. */
  readonly branch: string | undefined;
}

/** That in which the run was started, then the others. Throws for one that is not there any more. */
export async function partsOf(
  git: GitPorts,
  { root, commonDirectory }: Checkout,
  { repository, repositories: { home, others } }: JoinedRun,
): Promise<readonly [PlacedPart, ...PlacedPart[]]> {
  const own: PlacedPart = { name: '', root, commonDirectory, commit: home, branch: repository.branch };
  const placed: PlacedPart[] = [];
  for (const { name, root: at, base: commit, branch } of others) {
    placed.push({ name, root: at, commonDirectory: (await openRepository(git, at)).commonDirectory, commit, branch });
  }
  return [own, ...placed];
}

/** The work up to `head`, in commits of each repository. */
export async function withDivided<T>(
  git: GitPorts,
  [home, ...others]: readonly [PlacedPart, ...PlacedPart[]],
  range: { readonly base: string; readonly head: string },
  work: (divided: Divided, joined: Joined) => Promise<T>,
): Promise<T> {
  return withJoined(git, home, others, async (joined) => work(await divide(joined, range, home, others), joined));
}

/** Puts the commit with all repositories, from which the run begins, into that in which it was started. Safe to repeat. */
export async function bringTogether(git: GitPorts, checkout: Checkout, run: JoinedRun): Promise<void> {
  const [home, ...others] = await partsOf(git, checkout, run);
  await withJoined(git, home, others, async (joined) => {
    const made = await joinCommits(joined, home, others);
    if (made !== run.repository.base) throw notTheSame(run);
    await bringCommit(joined, made, home.commonDirectory);
  });
}

/** Its commits are named in the definition, so this is an older or newer squad. */
function notTheSame({ name }: JoinedRun): SquadError {
  return new SquadError({
    code: 'wrong-environment',
    message: `the repositories of ${plainLine(name, 80)} cannot be joined as they were when it was recorded`,
    next: 'Begin it again: `squad run`, with the same objective.',
  });
}
