import { basename } from 'node:path';
import { createGit, type Git, type GitPorts } from '../../substrate/git/git-call.ts';
import { callOn } from '../../substrate/git/git-context.ts';
import { findBranch } from '../../substrate/git/merge-into-branch.ts';
import type { Checkout } from '../../substrate/git/repository.ts';
import {
  DOCUMENTS,
  type SprintCommit,
  type SprintDocument,
  type SprintFacts,
} from '../../view/report/team/team-facts.ts';

const MOST_COMMITS = 500;
const MOST_CHARACTERS = 256 * 1024;

export type BranchFacts = Pick<SprintFacts, 'documents' | 'commits'>;

/** The commits of a sprint and its planner's documents, at this head or that of its branch. No `commits`: git cannot say. */
export async function gatherBranch(
  ports: GitPorts,
  repository: Checkout,
  { branch, head, base }: { readonly branch: string; readonly head?: string | undefined; readonly base: string },
): Promise<BranchFacts> {
  const git = createGit(ports);
  const call = callOn(repository.commonDirectory);
  const at = (await findBranch(ports, repository, branch))?.head ?? head;
  if (at === undefined) return { documents: {} };
  const format = '--format=%x01%H %s';
  const range = `${base}..${at}`;
  const args = ['log', '--reverse', `-n${MOST_COMMITS}`, '--no-merges', format, '--name-only', '-z', range, '--'];
  const found = await git.run(args, call);
  if (found.code !== 0) return { documents: {} };
  const commits = commitsIn(found.stdout);
  return { commits, documents: await documentsAt(git, repository, at, commits) };
}

function commitsIn(output: string): SprintCommit[] {
  return output
    .split('\u0001')
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const [head = '', ...rest] = part.split('\0');
      const [line = '', ...names] = [...head.split('\n'), ...rest].map((name) => name.trim());
      const space = line.indexOf(' ');
      const paths = names.filter((name) => name !== '');
      return { commit: line.slice(0, space), subject: line.slice(space + 1), paths };
    });
}

/** Those that the sprint itself wrote, wherever in the repository. */
async function documentsAt(
  git: Git,
  { commonDirectory }: Checkout,
  head: string,
  commits: readonly SprintCommit[],
): Promise<SprintFacts['documents']> {
  const documents: Partial<Record<(typeof DOCUMENTS)[number], SprintDocument>> = {};
  for (const name of DOCUMENTS) {
    const paths = commits.flatMap((one) => one.paths.filter((path) => basename(path) === `${name}.md`));
    for (const path of new Set(paths.toReversed())) {
      const shown = await git.run(['cat-file', 'blob', `${head}:${path}`], callOn(commonDirectory));
      if (shown.code !== 0) continue;
      documents[name] = { path, commit: head, text: shown.stdout.slice(0, MOST_CHARACTERS) };
      break;
    }
  }
  return documents;
}
