import { join } from 'node:path';
import { withScratch } from '../system/files/scratch.ts';
import { scratchLabel } from '../system/process/left-scratch.ts';
import { createGit, requireCommitId, type GitPorts } from './git-call.ts';
import { callOn } from './git-context.ts';
import { parseMergeTree } from './integration.ts';
import type { Checkout } from './repository.ts';

/** Commits that are looked at for work that is there without its history. */
const MOST_COMMITS = 200;

/**
 * Whether a commit has all that another one brings: its history or, as after a squash, its changes. They may have been changed
 * since: it is enough if an earlier commit, of so many, had them all. Writes nothing that stays.
 */
export async function hasWork(
  ports: GitPorts,
  { commonDirectory }: Pick<Checkout, 'commonDirectory'>,
  { commit, of, most = MOST_COMMITS }: { readonly commit: string; readonly of: string; readonly most?: number },
): Promise<boolean> {
  const [git, call] = [createGit(ports), callOn(commonDirectory)];
  const [has, work] = [requireCommitId(commit), requireCommitId(of)];
  if ((await git.run(['merge-base', '--is-ancestor', work, has], call)).code === 0) return true;
  const listed = await git.run(['rev-list', `--max-count=${most}`, has, `^${work}`, '--'], call);
  // One of the commits is gone.
  if (listed.code !== 0) return false;
  return withScratch(
    ports.stateDirectory,
    async (scratch) => {
      const objects = {
        GIT_OBJECT_DIRECTORY: scratch,
        GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(join(commonDirectory, 'objects')),
      };
      const options = ['--write-tree', '-z', '--name-only', '--no-messages', '--end-of-options'];
      for (const one of new Set([has, ...listed.stdout.split('\n').filter((line) => line !== '')])) {
        const args = ['merge-tree', ...options, one, work];
        const merged = await git.run(args, { ...call, environment: { ...call.environment, ...objects } });
        // Any other code: they conflict.
        if (merged.code !== 0) continue;
        if (parseMergeTree(merged.stdout).tree === (await git.text(['rev-parse', `${one}^{tree}`], call))) return true;
      }
      return false;
    },
    scratchLabel(),
  );
}

/** For a list of paths of git's, in which a colon would divide the path. */
function quoted(path: string): string {
  return `"${path.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}
