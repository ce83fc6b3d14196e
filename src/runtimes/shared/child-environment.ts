import { delimiter, isAbsolute } from 'node:path';
import { pickVariables } from '../../text/defined.ts';
import { PORT_VARIABLE } from '../../text/port-place.ts';
import { credentialsIn } from '../../model/redaction/address-credentials.ts';
import { gitSettingsEnvironment, REPOSITORY_ONLY, type GitSettings } from '../../model/git-settings.ts';
import type { Workspace } from '../../model/turn-request.ts';

/** Every program needs these. A child gets no other variable of the host unless it is named (bar S8). */
const BASE = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TERM', 'TZ', 'TMPDIR'];

/**
 * The child's environment: the base variables and those in `names`, if the host has them. A relative entry of PATH would be a folder
 * that the agent fills: programs look there for what they start outside of its sandbox.
 */
export function childEnvironment(
  host: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Record<string, string> {
  const picked = pickVariables(host, [...BASE, ...names]);
  const { PATH: path } = picked;
  return path === undefined ? picked : { ...picked, PATH: absoluteEntries(path) };
}

function absoluteEntries(path: string): string {
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder));
  // An empty PATH would be the current folder.
  return folders.length === 0 ? '/usr/bin:/bin' : folders.join(delimiter);
}

/** Variables with secrets, which an agent's shell, servers and hooks do not get unless they are meant for them. */
export function namesOfSecrets(environment: Readonly<Record<string, string>>): string[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL/i.test(name) || credentialsIn(value).length > 0 ? [name] : [],
  );
}

/**
 * Environment variables with git settings for the runtime's program and the agent's shell, and the port of the folder. `more`: the
 * runtime's own. With settings of the workspace, git reads no configuration of the user or the system.
 */
export function gitEnvironment(
  workspace: Pick<Workspace, 'gitSettings' | 'port'>,
  more: GitSettings = [],
): Record<string, string> {
  const { gitSettings } = workspace;
  const files = gitSettings === undefined ? {} : REPOSITORY_ONLY;
  return { ...files, ...portEnvironment(workspace), ...gitSettingsEnvironment([...(gitSettings ?? []), ...more]) };
}

export function portEnvironment({ port }: Pick<Workspace, 'port'>): Record<string, string> {
  return port === undefined ? {} : { [PORT_VARIABLE]: String(port) };
}
