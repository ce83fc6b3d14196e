import { SquadError } from '../../model/errors.ts';
import { gitSettingsEnvironment, type GitSettings } from '../../model/git-settings.ts';
import { conditionalKeys, readConfiguration, type ConfigEntry } from './configuration.ts';
import type { Git } from './git-call.ts';

/** Replaces a merge driver with git's own text merge. git refuses an empty command, and `true` would keep one side. */
const TEXT_MERGE = 'git merge-file --marker-size=%L %A %O %B';
/** Replaces a diff program with git's own text diff. git would run an empty command, which fails. One argument is a conflict. */
const TEXT_DIFF = 'f() { test $# -lt 7 || git diff --no-index --no-ext-diff --no-textconv -- "$2" "$5"; :; }; f';

/** Limits on the settings in a process's environment: the kernel limits its size, and claude drops more than 256 settings. */
const MOST_CHARACTERS = 64 * 1024;
const MOST = 220;

/** Keys that name a program, each with its replacement: git's own default, or a program that does nothing. */
const NEUTRAL: readonly (readonly [RegExp, string])[] = [
  [/^merge\.[^]*\.driver$/, TEXT_MERGE],
  [/^diff\.(?:external|[^]*\.command)$/, TEXT_DIFF],
  [/^(?:diff\.[^]*\.textconv|interactive\.difffilter|core\.pager)$/, 'cat'],
  [/^(?:core|sequence)\.editor$/, 'true'],
  [/^(?:trailer\.[^]*\.(?:cmd|command)|core\.alternaterefscommand)$/, 'true'],
  [/^(?:pager\.[^]*|hook\.[^]*\.enabled)$/, 'false'],
  [/^(?:difftool|mergetool|browser|man|guitool)\.[^]*\.(?:cmd|path)$/, 'false'],
  [/^(?:tar\.[^]*\.command|gpg\.ssh\.defaultkeycommand)$/, 'false'],
  [/^(?:alias\.[^]*|credential\.(?:[^]*\.)?helper|core\.askpass)$/, ''],
  [/^core\.sshcommand$/, 'ssh'],
  [/^gpg\.(?:openpgp\.)?program$/, 'gpg'],
  [/^gpg\.x509\.program$/, 'gpgsm'],
  [/^gpg\.ssh\.program$/, 'ssh-keygen'],
  [/^submodule\.[^]*\.update$/, 'checkout'],
];

/**
 * Settings that override every configured program. All names are in the configuration, because attributes cannot define a
 * driver. Throws `wrong-environment` if the settings do not fit into a process's environment.
 *
 * A program that is configured between this read and the git call is not overridden. Agents cannot write these files, and the
 * baseline would show it.
 */
export async function neutralSettings(
  git: Git,
  gitDirectory: string,
  environment?: Readonly<Record<string, string>>,
): Promise<GitSettings> {
  const entries = await readConfiguration(git, gitDirectory, environment);
  const acting = entries.filter((entry) => !isHarmless(entry)).map(({ key }) => key);
  const names = [...acting, ...(await conditionalKeys(git, gitDirectory, entries))];
  const settings = decideNeutralSettings(names);
  if (settings.length <= MOST && settings.flat().join('').length <= MOST_CHARACTERS) return settings;
  throw new SquadError({
    code: 'wrong-environment',
    message: `git's configuration names ${settings.length} programs (filters, drivers, aliases and the like), more than squad can override`,
    next: 'Look at `git config --list --show-origin`, and remove what you do not need.',
  });
}

/** Aliases without a program, because a user may have hundreds, and submodules without a command. */
function isHarmless({ key, value }: ConfigEntry): boolean {
  if (key.startsWith('alias.')) return !/^\s*[!-]/.test(value);
  return /^submodule\.[^]*\.update$/.test(key) && !value.startsWith('!');
}

/** The same settings as environment variables for the engine's own git calls. */
export async function neutralDrivers(git: Git, gitDirectory: string): Promise<Record<string, string>> {
  return gitSettingsEnvironment(await neutralSettings(git, gitDirectory));
}

/** Settings that override the programs among these names. */
export function decideNeutralSettings(names: readonly string[]): GitSettings {
  const settings = new Map<string, string>();
  for (const name of names) {
    const filter = /^filter\.([^]*)\.[^.]+$/.exec(name)?.[1];
    if (filter !== undefined) {
      for (const part of ['clean', 'smudge', 'process']) settings.set(`filter.${filter}.${part}`, '');
      settings.set(`filter.${filter}.required`, 'false');
    }
    const hook = /^hook\.([^]*)\.[^.]+$/.exec(name)?.[1];
    if (hook !== undefined) settings.set(`hook.${hook}.enabled`, 'false');
    // git uses the first value of these keys, so they cannot be overridden. This forbids the protocol that runs them.
    if (name === 'core.gitproxy') settings.set('protocol.git.allow', 'never');
    if (/^remote\.[^]*\.(?:uploadpack|receivepack)$/.test(name)) settings.set('protocol.file.allow', 'never');
    const value = NEUTRAL.find(([key]) => key.test(name))?.[1];
    if (value !== undefined) settings.set(name, value);
  }
  return [...settings];
}
