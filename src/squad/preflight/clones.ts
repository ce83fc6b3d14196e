import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Composition, Host } from '../../engine/compose.ts';
import { makeSecret } from '../../model/secret.ts';
import { badInput, wrongEnvironment } from '../../model/errors.ts';
import { sha256Of } from '../../model/sha256.ts';
import { fetchClone, startClone } from '../../substrate/git/joined/clone.ts';
import { bindState } from '../../substrate/system/files/state-place.ts';
import type { RepositoryReport } from '../../substrate/ports/workspaces.ts';

interface ClonePorts extends Pick<Composition, 'git'> {
  readonly host: Host;
}

/**
 * The clone of a remote in the state folder of this repository, with what the remote has now on the branch that it names as its own. `mayFetch`:
 * else it stays as it is. Throws where there is none, or where it has commits that only a person can judge.
 */
export async function cloneOf(
  { host, git }: ClonePorts,
  home: Pick<RepositoryReport, 'root' | 'commonDirectory'>,
  { url, mayFetch }: { readonly url: string; readonly mayFetch: boolean },
): Promise<string> {
  const { directory } = bindState(host.stateDirectory, home.commonDirectory, basename(home.root));
  const folder = join(directory, 'clones');
  const path = join(folder, sha256Of(url).slice(0, 16));
  const isThere = existsSync(path);
  if (!mayFetch) {
    if (isThere) return path;
    throw badInput('it has no clone here yet, and a dry run asks no remote', 'Start the run without `--dry-run`.');
  }
  const again = `See what it needs: \`git ls-remote ${url}\`.`;
  if (isThere) {
    const problem = await fetchClone(git, path);
    if (problem !== undefined) throw wrongEnvironment(problem.why, problem.next ?? again);
    return path;
  }
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // A kill leaves no half of one at its place.
  const made = join(folder, `.new-${makeSecret()}`);
  try {
    const problem = await startClone(git, made, url);
    if (problem !== undefined) throw wrongEnvironment(problem.why, problem.next ?? again);
    await rename(made, path).catch((error: unknown) => {
      if (!existsSync(path)) throw error;
    });
  } finally {
    await rm(made, { recursive: true, force: true });
  }
  return path;
}
