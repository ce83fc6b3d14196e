import { createGit, requireCommitId, type GitPorts } from './git-call.ts';
import { callOn } from './git-context.ts';
import { createTalk } from './repository-talk.ts';
import type { Checkout } from './repository.ts';

/** Those of the commits that the repository has. */
export async function findCommits(
  ports: GitPorts,
  { commonDirectory }: Pick<Checkout, 'commonDirectory'>,
  commits: readonly string[],
): Promise<ReadonlySet<string>> {
  const talk = createTalk(createGit(ports), callOn(commonDirectory));
  try {
    const found = new Set<string>();
    for (const commit of commits) {
      if ((await talk.find(`${requireCommitId(commit)}^{commit}`)) !== undefined) found.add(commit);
    }
    return found;
  } finally {
    talk.close();
  }
}
