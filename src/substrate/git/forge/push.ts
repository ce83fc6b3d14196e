import { createGit, requireCommitId } from '../git-call.ts';
import type { Forge, PushAnswer } from '../../ports/forge.ts';
import { nameProblem, refused, remoteUrl, said, type ForgePorts, type ForgeRepository } from './remotes.ts';
import { runUserGit } from './user-git.ts';

/**
 * No hook of the repository runs (`core.hooksPath` of the prefix, and `--no-verify`), and no push is forced: the remote creates
 * the branch or moves it forward. `--receive-pack` is set because a remote's config could name another program.
 */
const OPTIONS = [
  ...['--porcelain', '--no-verify', '--no-signed', '--no-follow-tags', '--no-force-with-lease'],
  ...['--recurse-submodules=no', '--receive-pack=git-receive-pack'],
];

export async function push(
  ports: ForgePorts,
  repository: ForgeRepository,
  { remote, branch, commit, tries }: Parameters<Forge['push']>[0],
): Promise<PushAnswer> {
  const url = await remoteUrl(ports, repository, remote);
  if (typeof url !== 'string') return url;
  const problem = nameProblem('branch', branch);
  if (problem !== undefined) return problem;
  const refspec = `${requireCommitId(commit)}:refs/heads/${branch}`;
  const command = `git push ${remote} ${refspec}`;
  if (await bringsLargeFiles(ports, repository, remote, commit)) {
    const why = 'the work adds files of Git LFS, which only a hook uploads, and squad runs no hooks';
    return refused(why, `Push it yourself: \`${command}\`.`);
  }
  const args = ['push', ...OPTIONS, ...(tries === true ? ['--dry-run'] : []), remote, refspec];
  const answer = await runUserGit(ports, repository, 'git-publish', args);
  return pushAnswer(answer, { remote, branch, command });
}

/** The answer by git's porcelain output. Pure. `pushed` needs a line that says so; the exit status alone is no proof. */
export function pushAnswer(
  answer: { code: number | null; stdout: string; stderr: string; problem?: string },
  { remote, branch, command }: { remote: string; branch: string; command: string },
): PushAnswer {
  const lines = answer.stdout.split('\n').filter((line) => /^[ *=!+-]\t/.test(line));
  const rejected = lines.find((line) => line.startsWith('!'));
  if (rejected === undefined && answer.code === 0 && lines.some((line) => /^[ *=]\t/.test(line))) {
    return { type: 'pushed' };
  }
  const reason = rejected?.split('\t')[2] ?? '';
  if (/\((?:non-fast-forward|fetch first|stale info)\)/.test(reason)) {
    return refused(
      `${branch} of ${remote} has commits that this work does not have, and squad never forces a push`,
      `Look at them: \`git fetch ${remote} ${branch} && git log FETCH_HEAD\`. Then merge them, or delete or rename that branch.`,
    );
  }
  const why = [said(reason), answer.problem, said(answer.stderr)].filter((text) => text !== undefined && text !== '');
  return refused(`git could not push: ${why.join('; ')}`, `See what it needs: \`${command}\`.`);
}

/**
 * Whether the work adds a pointer of Git LFS that the remote, as last fetched, does not have. Pushed without the hook, its file
 * would be missing. False if git fails; then the remote may refuse.
 */
async function bringsLargeFiles(
  ports: ForgePorts,
  { root, commonDirectory }: ForgeRepository,
  remote: string,
  commit: string,
): Promise<boolean> {
  const pointer = '-Sversion https://git-lfs.github.com/spec/v1';
  const options = ['-1', '--format=%H', '--no-textconv', '--no-ext-diff', pointer];
  const args = ['log', ...options, commit, '--not', `--remotes=${remote}`, '--'];
  const answer = await createGit(ports).run(args, { cwd: root, gitDirectory: commonDirectory });
  return answer.code === 0 && answer.stdout.trim() !== '';
}
