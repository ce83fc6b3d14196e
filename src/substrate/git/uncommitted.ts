import { createGit, gitFailed, splitEntries, type GitPorts } from './git-call.ts';
import type { Repository } from './repository.ts';
import { readUserConfiguration, withoutFilters } from './user-configuration.ts';

/** Paths of a checkout that differ from its commit, or that git does not know and does not ignore, from its root. Changes nothing. */
export async function uncommittedPaths(
  ports: GitPorts,
  { root, gitDirectory }: Pick<Repository, 'root' | 'gitDirectory'>,
): Promise<readonly string[]> {
  const git = createGit(ports);
  const environment = withoutFilters(ports, await readUserConfiguration(ports, git, gitDirectory));
  // Without submodules, in which git would start another git.
  const args = [
    'status',
    '--porcelain=v1',
    '-z',
    '--no-renames',
    '--untracked-files=normal',
    '--ignore-submodules=all',
  ];
  const answer = await git.run(args, { cwd: root, environment });
  if (answer.code !== 0) throw gitFailed(args, answer);
  return splitEntries(answer.stdout).map((entry) => entry.slice(3));
}
