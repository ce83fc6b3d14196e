import { isSquadError } from '../../model/errors.ts';
import { createGit, requireName } from './git-call.ts';
import type { GitPorts } from './repository.ts';

/** A ref that keeps what an attempt left, delivered or not. */
export interface KeptWork {
  /** `refs/squad/<run>/<attempt>` */
  readonly ref: string;
  readonly commit: string;
}

/** All that is kept of a run's attempts in the repository at `root`. Nothing where git cannot be asked: whoever looks on is not stopped by that. */
export async function listKeptWork(ports: GitPorts, root: string, run: string): Promise<readonly KeptWork[]> {
  const args = ['for-each-ref', '--format=%(refname) %(objectname)', `refs/squad/${requireName(run)}/`];
  try {
    const listing = await createGit(ports).text(args, { cwd: root });
    return listing.split('\n').flatMap((line) => {
      const [ref, commit] = line.split(' ');
      return ref === undefined || commit === undefined ? [] : [{ ref, commit }];
    });
  } catch (error) {
    if (isSquadError(error)) return [];
    throw error;
  }
}
