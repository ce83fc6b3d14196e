import { join } from 'node:path';
import type { TurnRequest } from '../../model/turn-request.ts';
import type { ClaudeFacts } from './look-up.ts';

/** File in the turn's directory with the settings below; `--settings` takes it as the only source of settings. */
export const SETTINGS_FILE = 'claude-settings.json';
/** File in the turn's directory with git's ignore rules for the sandbox's masks. */
export const EXCLUDES_FILE = 'git-excludes';

/**
 * Names that the sandbox masks in the working folder, each as an unreadable device, so that `git add -A` fails on them
 * unless they are ignored. Seen with 2.1.328, and the shell files it protects elsewhere.
 */
const MASKED =
  '.bash_login .bash_logout .bash_profile .bashrc .profile .zlogin .zlogout .zprofile .zshenv .zshrc ' +
  '.claude .gitconfig .gitmodules .idea .mcp.json .ripgreprc .vscode';

export const EXCLUDES = MASKED.split(' ')
  .map((name) => `/${name}\n`)
  .join('');

/**
 * The settings of one turn. Files that hold secrets can be read neither by the file tools nor by the shell: a `Read` rule
 * covers both. The sandbox confines the shell; the file tools are confined to the working folders by the permission mode.
 */
export function settingsFor(request: TurnRequest, facts: ClaudeFacts): Record<string, unknown> {
  const secret = [...facts.secretFiles, ...(request.mcp.length > 0 ? [join(facts.directory, 'mcp.json')] : [])];
  return {
    permissions: { deny: secret.map((path) => `Read(/${path})`) },
    ...(isSandboxed(request, facts) ? { sandbox: sandboxFor(request, facts) } : {}),
  };
}

export function isSandboxed(request: TurnRequest, facts: ClaudeFacts): boolean {
  return request.access.level === 'edit' && facts.confinement === 'os';
}

/** What a commit in the sandbox needs from git: no word about the masks, and no clean-up that rewrites packs. */
export function gitEnvironment(facts: ClaudeFacts): Record<string, string> {
  const settings: [string, string][] = [
    ['core.excludesFile', join(facts.directory, EXCLUDES_FILE)],
    ['gc.auto', '0'],
    ['maintenance.auto', 'false'],
  ];
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(settings.length) };
  for (const [index, [key, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${index}`] = key;
    env[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return env;
}

function sandboxFor(request: TurnRequest, facts: ClaudeFacts): Record<string, unknown> {
  const { access } = request;
  const network = access.level === 'edit' && access.network === true;
  const writable = access.level === 'edit' ? (access.writable ?? []) : [];
  return {
    enabled: true,
    autoAllowBashIfSandboxed: true,
    // Without these two the model could ask to leave the sandbox, or a missing tool would quietly switch it off.
    allowUnsandboxedCommands: false,
    failIfUnavailable: true,
    network: network ? { allowedDomains: ['*'] } : { allowedDomains: [], strictAllowlist: true },
    credentials: { envVars: facts.secretNames.map((name) => ({ name, mode: 'deny' })) },
    filesystem: { allowWrite: [...writable, ...writableGit(request)], denyWrite: facts.protectedGit },
  };
}

/** What a commit in a detached worktree writes: objects, and the worktree's own index, HEAD and log. */
function writableGit({ workspace }: TurnRequest): string[] {
  if (workspace.git === undefined) return [];
  return [join(workspace.git.commonDirectory, 'objects'), workspace.git.worktreeDirectory];
}
