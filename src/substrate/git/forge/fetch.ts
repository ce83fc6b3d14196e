import { createGit } from '../git-call.ts';
import type { Forge } from '../../ports/forge.ts';
import { refused, remoteUrl, said, type ForgePorts, type ForgeRepository } from './remotes.ts';
import { runUserGit } from './user-git.ts';

/** `--upload-pack` is set because a remote's config could name another program. Only what the remote's own refspecs say is written. */
const OPTIONS = ['--no-recurse-submodules', '--no-auto-maintenance', '--no-write-fetch-head', '--quiet'];

export async function remotesOf(
  ports: ForgePorts,
  { root, commonDirectory }: ForgeRepository,
): Promise<readonly string[]> {
  const names = await createGit(ports).text(['remote'], { cwd: root, gitDirectory: commonDirectory });
  return names.split('\n').filter((name) => name !== '');
}

export async function fetchRemote(
  ports: ForgePorts,
  repository: ForgeRepository,
  remote: string,
): ReturnType<Forge['fetch']> {
  const url = await remoteUrl(ports, repository, remote);
  if (typeof url !== 'string') return url;
  const args = ['fetch', ...OPTIONS, '--upload-pack=git-upload-pack', remote];
  const answer = await runUserGit(ports, repository, 'git-fetch', args);
  if (answer.code === 0) return { type: 'found' };
  const why = [answer.problem, said(answer.stderr)].filter((text) => text !== undefined && text !== '');
  return refused(`git could not fetch ${remote}: ${why.join('; ')}`, `See what it needs: \`git fetch ${remote}\`.`);
}
