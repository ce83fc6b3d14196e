import { createGit } from './git-call.ts';
import { openCheckout, type GitPorts } from './repository.ts';

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
