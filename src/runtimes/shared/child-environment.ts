import { gitSettingsEnvironment, type GitSettings } from '../../model/git-settings.ts';
import type { Workspace } from '../../model/turn-request.ts';

/** What any program needs to run at all. Everything else of the host's environment stays outside (bar S8). */
const BASE = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TERM', 'TZ', 'TMPDIR'];

/** The child's environment: the base names and `names`, as far as the host has them. */
export function childEnvironment(
  host: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Record<string, string> {
  const child: Record<string, string> = {};
  for (const name of [...BASE, ...names]) {
    const value = host[name];
    if (value !== undefined) child[name] = value;
  }
  return child;
}

/** Environment variables with settings for every git of the turn, in program and shell. `more`: the runtime's own settings. */
export function gitEnvironment(
  workspace: Pick<Workspace, 'gitSettings'>,
  more: GitSettings = [],
): Record<string, string> {
  return gitSettingsEnvironment([...(workspace.gitSettings ?? []), ...more]);
}
