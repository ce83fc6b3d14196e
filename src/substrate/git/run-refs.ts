import { isSquadError } from '../../model/errors.ts';
import { createGit, requireName, type GitPorts } from './git-call.ts';
import { openCheckout } from './repository.ts';

/** A ref that keeps the work of an attempt, delivered or not. */
interface KeptWork {
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

const PREFIX = 'refs/heads/squad/';

/** Names of the runs that have a branch in the repository at a path. */
export async function runBranches(ports: GitPorts, path: string): Promise<readonly string[]> {
  const { root } = await openCheckout(ports, path);
  const args = ['for-each-ref', '--format=%(refname)', PREFIX];
  const listing = await createGit(ports).text(args, { cwd: root });
  return listing
    .split('\n')
    .filter((line) => line.startsWith(PREFIX))
    .map((line) => line.slice(PREFIX.length));
}
