import { existsSync } from 'node:fs';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { wrongEnvironment } from '../../model/errors.ts';
import { plainLine } from '../../text/plain-text.ts';
import { createGit, findObject, requireCommitId, type GitCall, type GitPorts } from './git-call.ts';
import { said, type ForgePorts, type ForgeRepository } from './forge/remotes.ts';
import { runUserGit } from './forge/user-git.ts';

/** Runs push their own branches, which no other run needs. Without objects' hooks and submodules, as every fetch of squad. */
const BRANCHES = ['+refs/heads/*:refs/heads/*', '^refs/heads/squad/*', '+refs/tags/*:refs/tags/*'];
const OPTIONS = [
  ...['--quiet', '--no-recurse-submodules', '--no-auto-maintenance', '--no-write-fetch-head', '--no-tags'],
  '--upload-pack=git-upload-pack',
];

export interface MirrorOf {
  /** Where runs are pushed to and fetched from. */
  readonly url: string;
  readonly base: string;
}

/** Brings branches and tags of a remote into a bare repository that its checkouts share. Throws where it does not get the commit. */
export async function fetchMirror(ports: ForgePorts, folder: string, { url, base }: MirrorOf): Promise<void> {
  const git = createGit(ports);
  const call = { cwd: folder, gitDirectory: folder };
  const place = { root: folder, commonDirectory: folder };
  if (!existsSync(join(folder, 'HEAD'))) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await git.text(['init', '--bare', '--quiet', '--template=', folder], { cwd: folder });
  }
  // A run that begins with what is there needs no network.
  if ((await findCommit(ports, call, base)) !== undefined) return;
  const fetched = await fetchInto(ports, place, url, BRANCHES);
  if ((await findCommit(ports, call, base)) !== undefined) return;
  // A branch may have moved since, without this commit. Not every remote gives what no ref names.
  const exactly = fetched ?? (await fetchInto(ports, place, url, [requireCommitId(base)]));
  if ((await findCommit(ports, call, base)) !== undefined) return;
  throw wrongEnvironment(
    `the commit ${base.slice(0, 12)} could not be fetched from ${plainLine(said(url), 300)}${exactly === undefined ? '' : `: ${exactly}`}`,
    'Push the branch that has it, and see that this machine may read there: `git ls-remote URL`.',
  );
}

/** A checkout of its own for a run, which borrows the objects of the mirror. `branch`: absent: HEAD is detached. */
export async function checkoutRun(
  ports: ForgePorts,
  { mirror, folder, url, base, branch }: MirrorOf & { mirror: string; folder: string; branch: string | undefined },
): Promise<void> {
  const git = createGit(ports);
  const call = { cwd: folder };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await git.text(['init', '--quiet', '--template=', folder], call);
  await mkdir(join(folder, '.git', 'info'), { recursive: true });
  await writeFile(join(folder, '.git', 'objects', 'info', 'alternates'), `${join(mirror, 'objects')}\n`);
  // squad’s own view of the run’s files.
  await appendFile(join(folder, '.git', 'info', 'exclude'), '/.squad/\n');
  await git.text(['remote', 'add', 'origin', url], call);
  const commit = requireCommitId(base);
  if (branch === undefined) await git.text(['update-ref', '--no-deref', 'HEAD', commit], call);
  else {
    // Commits of the remote are not taken for work of the run.
    await git.text(['update-ref', `refs/remotes/origin/${branch}`, commit], call);
    await git.text(['symbolic-ref', 'HEAD', `refs/heads/${branch}`], call);
    await git.text(['update-ref', `refs/heads/${branch}`, commit], call);
  }
  await git.text(['reset', '--hard', '--quiet', commit], call);
}

/** Fetches refs of a run from its remote into a repository. Returns why it could not. */
async function fetchInto(
  ports: ForgePorts,
  place: ForgeRepository,
  url: string,
  refspecs: readonly string[],
): Promise<string | undefined> {
  const args = ['fetch', ...OPTIONS, '--end-of-options', url, ...refspecs];
  const answer = await runUserGit(ports, place, 'git-fetch', args);
  if (answer.code === 0) return undefined;
  return [answer.problem, said(answer.stderr)].filter((text) => text !== undefined && text !== '').join('; ');
}

async function findCommit(ports: ForgePorts, call: GitCall, commit: string): Promise<string | undefined> {
  return findObject(createGit(ports), call, `${requireCommitId(commit)}^{commit}`);
}

/** Whether a branch of a remote, as it was last fetched, has the commit. */
export async function isAtRemote(
  ports: GitPorts,
  { commonDirectory }: Pick<ForgeRepository, 'commonDirectory'>,
  { remote, commit }: { readonly remote: string; readonly commit: string },
): Promise<boolean> {
  const args = ['for-each-ref', '--count=1', '--format=%(refname)', `--contains=${requireCommitId(commit)}`];
  const call = { cwd: commonDirectory, gitDirectory: commonDirectory };
  return (await createGit(ports).text([...args, `refs/remotes/${remote}/`], call)) !== '';
}
