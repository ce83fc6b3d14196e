import {
  loginEnvironment,
  nameProblem,
  refused,
  remoteUrl,
  said,
  type ForgePorts,
  type ForgeRepository,
} from './remotes.ts';
import { createGit, requireCommitId, gitEnvironment, hardenedArguments } from '../git/git-call.ts';
import type { Forge, PushAnswer } from '../ports/forge.ts';

const TIMEOUT_MS = 5 * 60_000;

/** Of the hardened prefix, what would keep the user's own logins out. */
const LIFTED = ['credential.helper=', 'core.sshCommand=false'];

/** On top of it: settings by which a push would do more than was asked. The first clears a list, the second asks nobody. */
const SETTINGS = ['push.pushOption=', 'credential.interactive=false', 'push.negotiate=false'];

/**
 * No hook of the repository runs (`core.hooksPath` of the prefix, and `--no-verify`), and nothing is ever forced: git moves
 * the branch only forward, or makes it, and the other side compares before it does. `--receive-pack` is named because
 * a remote's config could name another program.
 */
const OPTIONS = [
  ...['--porcelain', '--no-verify', '--no-signed', '--no-follow-tags', '--no-force-with-lease'],
  ...['--recurse-submodules=no', '--receive-pack=git-receive-pack'],
];

const SSH = ['SSH_AUTH_SOCK', 'SSH_AGENT_PID', 'GIT_SSH', 'GIT_SSH_COMMAND', 'GIT_SSH_VARIANT', 'GIT_ASKPASS'];

export function createPush(ports: ForgePorts, repository: ForgeRepository): Forge['push'] {
  return async ({ remote, branch, commit }) => {
    const url = await remoteUrl(ports, repository, remote);
    if (typeof url !== 'string') return url;
    const problem = nameProblem('branch', branch);
    if (problem !== undefined) return problem;
    const refspec = `${requireCommitId(commit)}:refs/heads/${branch}`;
    const byHand = `git push ${remote} ${refspec}`;
    if (await bringsLargeFiles(ports, repository, remote, commit)) {
      const why = `it brings files of Git LFS, which only the hook uploads that squad does not run`;
      return refused(why, `Push it yourself: \`${byHand}\`.`);
    }
    const args = [...prefix(), 'push', ...OPTIONS, remote, refspec];
    const answer = await ports.processes.run(await ports.binary(), args, {
      // A remote may be a path from there.
      cwd: repository.root,
      env: environmentOf(ports, repository),
      timeoutMs: ports.pushTimeoutMs ?? TIMEOUT_MS,
    });
    return pushAnswer(answer, { remote, branch, byHand });
  };
}

/** What git's porcelain says. Pushed needs a line that says so: an exit status alone proves little. Pure. */
export function pushAnswer(
  answer: { code: number | null; stdout: string; stderr: string; problem?: string },
  { remote, branch, byHand }: { remote: string; branch: string; byHand: string },
): PushAnswer {
  const lines = answer.stdout.split('\n').filter((line) => /^[ *=!+-]\t/.test(line));
  const rejected = lines.find((line) => line.startsWith('!'));
  if (rejected === undefined && answer.code === 0 && lines.some((line) => /^[ *=]\t/.test(line))) {
    return { type: 'pushed' };
  }
  const reason = rejected?.split('\t')[2] ?? '';
  if (/\((?:non-fast-forward|fetch first|stale info)\)/.test(reason)) {
    return refused(
      `${branch} of ${remote} holds commits that this work does not have, and squad forces nothing`,
      `Look at them: \`git fetch ${remote} ${branch} && git log FETCH_HEAD\`. Then merge them, or delete or rename that branch.`,
    );
  }
  const why = [said(reason), answer.problem, said(answer.stderr)].filter((text) => text !== undefined && text !== '');
  return refused(`git could not push: ${why.join('; ')}`, `See what it needs: \`${byHand}\`.`);
}

function prefix(): readonly string[] {
  const settings = hardenedArguments('/dev/null').filter((item) => item !== '-c' && !LIFTED.includes(item));
  return [...settings, ...SETTINGS].flatMap((setting) => ['-c', setting]);
}

function environmentOf(ports: ForgePorts, { commonDirectory }: ForgeRepository): Record<string, string> {
  return {
    ...gitEnvironment(ports.environment),
    ...loginEnvironment(ports.environment, SSH),
    GIT_DIR: commonDirectory,
    // `ext::` and remote helpers are programs. A path is what a remote on the same machine has.
    GIT_ALLOW_PROTOCOL: 'https:http:ssh:file',
    // Nobody is there to answer.
    GCM_INTERACTIVE: 'never',
    SSH_ASKPASS_REQUIRE: 'never',
    // Its words are read.
    LC_ALL: 'C',
  };
}

/**
 * A pointer of Git LFS that the remote, as far as we know it, has not: pushed without the hook, it would point at nothing.
 * What cannot be found out is left to the other side to refuse.
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
