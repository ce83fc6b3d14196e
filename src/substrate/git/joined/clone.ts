import { join } from 'node:path';
import { createGit, type GitAnswer, type GitPorts } from '../git-call.ts';
import type { Refused } from '../../ports/forge.ts';
import { refused, said } from '../forge/remotes.ts';
import { runUserGit } from '../forge/user-git.ts';

const FETCH = [
  'fetch',
  '--no-recurse-submodules',
  '--no-auto-maintenance',
  '--no-write-fetch-head',
  '--quiet',
  '--prune',
];

/** Makes a clone, with the person's logins. Nothing of the repository runs. Returns why it could not. */
export async function startClone(ports: GitPorts, path: string, url: string): Promise<Refused | undefined> {
  const git = createGit(ports);
  const place = { cwd: '/', environment: { GIT_TEMPLATE_DIR: '' } };
  await git.text(['init', '--quiet', path], place);
  const call = { cwd: path };
  await git.text(['config', 'remote.origin.url', url], call);
  await git.text(['config', 'remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*'], call);
  return fetchClone(ports, path);
}

/** Brings its checkout to what the remote has on its own branch. Returns why it could not; commits of the clone are never lost. */
export async function fetchClone(ports: GitPorts, path: string): Promise<Refused | undefined> {
  const git = createGit(ports);
  const call = { cwd: path };
  const repository = { root: path, commonDirectory: join(path, '.git') };
  const fetched = await runUserGit(ports, repository, 'git-fetch', [
    ...FETCH,
    '--upload-pack=git-upload-pack',
    'origin',
  ]);
  if (fetched.code !== 0) return failed('it could not be fetched', fetched);
  const asked = await runUserGit(ports, repository, 'git-fetch', ['remote', 'set-head', 'origin', '--auto']);
  const found = await git.run(['symbolic-ref', '--quiet', '--short', 'refs/remotes/origin/HEAD'], call);
  const branch = found.stdout.trim().replace(/^origin\//, '');
  if (asked.code !== 0 || branch === '') return refused('its remote has no branch that it names as its own');
  const remote = `refs/remotes/origin/${branch}`;
  const head = await git.run(['rev-parse', '--quiet', '--verify', 'HEAD'], call);
  const isOld = head.code !== 0 || (await git.run(['merge-base', '--is-ancestor', 'HEAD', remote], call)).code === 0;
  if (!isOld)
    return refused(
      `its clone at ${path} has commits that its remote does not have`,
      'Push them from there, or reset it to its remote, and run the command again.',
    );
  const moved = await git.run(['checkout', '--quiet', '--no-track', '-B', branch, remote], call);
  return moved.code === 0 ? undefined : failed(`its clone at ${path} could not be brought up to date`, moved);
}

function failed(what: string, { problem, stderr }: Pick<GitAnswer, 'problem' | 'stderr'>): Refused {
  return refused(`${what}: ${problem ?? said(stderr)}`);
}
