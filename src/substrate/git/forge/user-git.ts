import { gitEnvironment, hardenedArguments } from '../git-call.ts';
import { loginEnvironment, type ForgePorts, type ForgeRepository } from './remotes.ts';

const TIMEOUT_MS = 5 * 60_000;

/** Options of the hardened prefix that would disable the user's logins. */
const LIFTED = ['credential.helper=', 'core.sshCommand=false'];

/** More settings, so that git does only what was asked. The first clears a list; the second prevents prompts. */
const SETTINGS = ['push.pushOption=', 'credential.interactive=false', 'push.negotiate=false'];

const SSH = ['SSH_AUTH_SOCK', 'SSH_AGENT_PID', 'GIT_SSH', 'GIT_SSH_COMMAND', 'GIT_SSH_VARIANT', 'GIT_ASKPASS'];

/** Runs a git that talks to a remote, with the user's logins and configuration. No hook runs, nothing prompts, and it ends in time. */
export async function runUserGit(
  ports: Omit<ForgePorts, 'forgeCli'>,
  repository: ForgeRepository,
  kind: 'git-publish' | 'git-fetch',
  args: readonly string[],
): ReturnType<ForgePorts['processes']['run']> {
  return ports.processes.run(await ports.binary(), [...prefix(), ...args], {
    kind,
    // A remote may be a path relative to it.
    cwd: repository.root,
    env: environmentOf(ports, repository),
    timeoutMs: ports.pushTimeoutMs ?? TIMEOUT_MS,
  });
}

function prefix(): readonly string[] {
  const settings = hardenedArguments().filter((item) => item !== '-c' && !LIFTED.includes(item));
  return [...settings, ...SETTINGS].flatMap((setting) => ['-c', setting]);
}

function environmentOf(
  ports: Pick<ForgePorts, 'environment'>,
  { commonDirectory }: ForgeRepository,
): Record<string, string> {
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
