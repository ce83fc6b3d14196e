import { isSquadError } from '../../model/errors.ts';
import { createGit, requireName } from './git-call.ts';
import type { GitPorts } from './repository.ts';

/** A ref that keeps the work of an attempt, delivered or not. */
export interface KeptWork {
  /** `refs/squad/<run>/<attempt>` */
  readonly ref: string;
  readonly commit: string;
}

/** The refs that keep a run's attempts in the repository at `root`. Empty if git fails, so that status and report still work. */
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
