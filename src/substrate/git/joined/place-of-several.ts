import { isSquadError } from '../../../model/errors.ts';
import type { RepositoryView } from '../../../model/repositories.ts';
import type { WorkPlace } from '../../../model/work-place.ts';
import type { GitPorts } from '../git-call.ts';
import { placeOfWork } from '../place-of-work.ts';
import { openCheckout } from '../repository.ts';

/** Where the work of a run of several repositories is: merged once each has it, and else where the first is that has not. */
export async function placeOfSeveral(
  git: GitPorts,
  run: string,
  repositories: readonly RepositoryView[],
): Promise<WorkPlace> {
  for (const { path, base, head } of repositories) {
    if (head === null) continue;
    const place = await placeIn(git, path, { run, base, delivered: head });
    // A command for another checkout would be given in this one.
    if (place.at !== 'merged') return { at: place.at };
  }
  return { at: 'merged' };
}

/** A repository that is gone has no branch. */
async function placeIn(git: GitPorts, path: string, work: Parameters<typeof placeOfWork>[2]): Promise<WorkPlace> {
  try {
    return await placeOfWork(git, await openCheckout(git, path), work);
  } catch (error) {
    if (!isSquadError(error)) throw error;
    return { at: 'gone' };
  }
}
