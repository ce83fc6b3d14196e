import { errorText, isSquadError } from '../../model/errors.ts';
import { type DeliveredRepository, folderOf } from '../../model/repositories.ts';
import type { PublishFacts } from '../../model/run.ts';
import type { GitPorts } from '../../substrate/git/git-call.ts';
import { branchAt, keepJoined, placeBranch } from '../../substrate/git/joined/give-branch.ts';
import { bringCommit } from '../../substrate/git/joined/joined.ts';
import type { Checkout } from '../../substrate/git/repository.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { plainLine } from '../../text/plain-text.ts';
import { partsOf, withDivided, type JoinedRun } from './parts.ts';

type Delivered = Pick<PublishFacts, 'problem' | 'repositories'> & { readonly head?: string };

/** The work that was checked last, and where the run branch is now. */
interface Work {
  readonly head: string;
  readonly found: string | undefined;
}

/**
 * Gives each repository that the work changes a branch `squad/<run>` with its part of it. All of them are looked at before one is changed,
 * and that in which the run was started comes last: until then its branch is the one with all repositories. Safe to repeat.
 */
export async function deliver(git: GitPorts, checkout: Checkout, run: JoinedRun, work: Work): Promise<Delivered> {
  try {
    return await giveAll(git, checkout, run, work);
  } catch (error) {
    // A repository that is gone, or has no room, fails the run and not the engine.
    if (!isSquadError(error)) throw error;
    return { problem: `its repositories did not get their branches: ${errorText(error)}` };
  }
}

async function giveAll(git: GitPorts, checkout: Checkout, run: JoinedRun, { head, found }: Work): Promise<Delivered> {
  const parts = await partsOf(git, checkout, run);
  const [own, ...others] = parts;
  const { base } = run.repository;
  return withDivided(git, parts, { base, head }, async (divided, joined): Promise<Delivered> => {
    const made = [divided.home, ...divided.others];
    const repositories = parts.map(({ name, root, commit }, index): DeliveredRepository => {
      const at = made[index] ?? commit;
      return { name, root, head: at, changed: at !== commit };
    });
    const problem = strayProblem(divided.stray) ?? movedProblem(run, { head, found, home: divided.home });
    if (problem !== undefined) return { problem };
    for (const [index, { name, commonDirectory }] of others.entries()) {
      const at = await branchAt(git, commonDirectory, run.name);
      if (at !== undefined && at !== divided.others[index])
        return { problem: takenProblem(run.name, folderOf(name), at) };
    }
    await keepJoined(git, own.commonDirectory, run.name, head);
    for (const [index, { commonDirectory, commit }] of parts.entries()) {
      const at = made[index] ?? commit;
      if (at !== commit) await bringCommit(joined, at, commonDirectory);
    }
    failpoint('repositories.brought');
    for (const [index, { name, commonDirectory, commit }] of others.entries()) {
      const at = divided.others[index] ?? commit;
      if (at === commit) continue;
      const placed = await placeBranch(git, commonDirectory, { run: run.name, commit: at, from: undefined });
      if (placed.type === 'taken') return { problem: takenProblem(run.name, folderOf(name), placed.head) };
      failpoint('repositories.placed');
    }
    const last = await placeBranch(git, own.commonDirectory, { run: run.name, commit: divided.home, from: head });
    if (last.type === 'taken') return { problem: takenProblem(run.name, 'the top folder', last.head) };
    return { head: divided.home, repositories };
  });
}

function strayProblem([first, ...more]: readonly string[]): string | undefined {
  if (first === undefined) return undefined;
  const rest = more.length === 0 ? '' : ` and ${more.length} more`;
  return `${plainLine(first, 200)}${rest} is in none of its repositories, so no branch can have it`;
}

function movedProblem(
  { name }: JoinedRun,
  { head, found, home }: Work & { readonly home: string },
): string | undefined {
  if (found === head || found === home) return undefined;
  const why = found === undefined ? 'it was deleted' : `it is at ${found.slice(0, 12)}`;
  return `squad/${name} has changed since it was checked: ${why}, and the run delivered ${head.slice(0, 12)} last`;
}

function takenProblem(name: string, where: string, at: string): string {
  return `none of its repositories was published: ${where} has a branch squad/${name} already, at ${at.slice(0, 12)}`;
}
