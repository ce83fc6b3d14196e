import { createGit, gitEnvironment, hardenedArguments, requireCommitId } from '../git-call.ts';
import type { Forge, PushAnswer, IssueAnswer, IssueName } from '../../ports/forge.ts';
import { forgeHost } from './choose-host.ts';
import { createPullRequests } from './pull-requests.ts';
import {
  type ForgePorts,
  type ForgeRepository,
  loginEnvironment,
  nameProblem,
  refused,
  remoteUrl,
  said,
} from './remotes.ts';

/**
 * Pushes with git, and uses GitHub through `gh` and GitLab through `glab`, with the user's logins. git reads the repository's config for that, so callers
 * must check the baseline first: a program that an agent planted there would run with the user's rights.
 */
export function createForge(ports: ForgePorts, repository: ForgeRepository): Forge {
  return {
    findRemote: async (remote) => {
      const url = await remoteUrl(ports, repository, remote);
      return typeof url === 'string' ? { type: 'found' } : url;
    },
    push: createPush(ports, repository),
    ...createPullRequests(ports, repository),
    readIssue: (of) => readIssue(ports, repository, of),
  };
}

const TIMEOUT_MS = 5 * 60_000;

/** Options of the hardened prefix that would disable the user's logins. */
const LIFTED = ['credential.helper=', 'core.sshCommand=false'];

/** More settings, so that a push does only what was asked. The first clears a list; the second prevents prompts. */
const SETTINGS = ['push.pushOption=', 'credential.interactive=false', 'push.negotiate=false'];

/**
 * No hook of the repository runs (`core.hooksPath` of the prefix, and `--no-verify`), and no push is forced: the remote creates
 * the branch or moves it forward. `--receive-pack` is set because a remote's config could name another program.
 */
const OPTIONS = [
  ...['--porcelain', '--no-verify', '--no-signed', '--no-follow-tags', '--no-force-with-lease'],
  ...['--recurse-submodules=no', '--receive-pack=git-receive-pack'],
];

const SSH = ['SSH_AUTH_SOCK', 'SSH_AGENT_PID', 'GIT_SSH', 'GIT_SSH_COMMAND', 'GIT_SSH_VARIANT', 'GIT_ASKPASS'];

function createPush(ports: ForgePorts, repository: ForgeRepository): Forge['push'] {
  return async ({ remote, branch, commit }) => {
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
    const args = [...prefix(), 'push', ...OPTIONS, remote, refspec];
    const answer = await ports.processes.run(await ports.binary(), args, {
      kind: 'git-publish',
      // A remote may be a path relative to it.
      cwd: repository.root,
      env: environmentOf(ports, repository),
      timeoutMs: ports.pushTimeoutMs ?? TIMEOUT_MS,
    });
    return pushAnswer(answer, { remote, branch, command });
  };
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

function prefix(): readonly string[] {
  const settings = hardenedArguments().filter((item) => item !== '-c' && !LIFTED.includes(item));
  return [...settings, ...SETTINGS].flatMap((setting) => ['-c', setting]);
}

function environmentOf(ports: ForgePorts, { commonDirectory }: ForgeRepository): Record<string, string> {
  return {
    ...gitEnvironment(ports.environment),
    ...loginEnvironment(ports.environment, SSH),
    GIT_DIR: commonDirectory,
    // Without `ext::` and remote helpers, which are programs. `file` is for a remote on the same machine.
    GIT_ALLOW_PROTOCOL: 'https:http:ssh:file',
    // No prompts.
    GCM_INTERACTIVE: 'never',
    SSH_ASKPASS_REQUIRE: 'never',
    // squad parses its messages.
    LC_ALL: 'C',
  };
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

/** Reads an issue, whose text is others' words. */
async function readIssue(
  ports: ForgePorts,
  of: ForgeRepository,
  { number, repository: given, remote }: IssueName,
): Promise<IssueAnswer> {
  const url = given === undefined ? await remoteUrl(ports, of, remote) : `https://${given}`;
  if (typeof url !== 'string') return { ...url, next: `${url.next ?? ''} Or give the issue’s whole URL.`.trim() };
  const host = await forgeHost(ports, { url, remote });
  if ('type' in host) return host.next === undefined ? { ...host, next: 'Give the issue’s whole URL.' } : host;
  return host.issue(number);
}
