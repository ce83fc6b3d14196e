import { SquadError } from '../../model/errors.ts';
import { gitSettingsEnvironment, type GitSettings } from '../../model/git-settings.ts';
import { conditionalKeys, readConfiguration, type ConfigEntry } from './configuration.ts';
import type { Git } from './git-call.ts';

/** git's own text merge, in the place of a driver: an empty command would be refused, and `true` would keep one side. */
const TEXT_MERGE = 'git merge-file --marker-size=%L %A %O %B';
/** git's own text diff, in the place of a program: an empty command would be run, and fail. One argument: a conflict. */
const TEXT_DIFF = 'f() { test $# -lt 7 || git diff --no-index --no-ext-diff --no-textconv -- "$2" "$5"; :; }; f';

/** All of them travel in the environment of a process, which the kernel limits; and claude drops more than 256 of them. */
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
 * Settings that override every program which is configured anywhere. The names come from configuration alone: attributes
 * cannot define a driver. Throws `wrong-environment` where there are more than a process can be given.
 *
 * What is left: a program that is configured between this look and the call. Only config files can do that, and those no
 * agent can write; the baseline shows when one did.
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

/** Aliases that abbreviate, of which a user may have hundreds, and submodules without a command of their own. */
function isHarmless({ key, value }: ConfigEntry): boolean {
  if (key.startsWith('alias.')) return !/^\s*[!-]/.test(value);
  return /^submodule\.[^]*\.update$/.test(key) && !value.startsWith('!');
}

/** As the environment of a git call of the engine's. */
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
    // Of these the first value counts, so that none can be taken back: what would run them is not used at all.
    if (name === 'core.gitproxy') settings.set('protocol.git.allow', 'never');
    if (/^remote\.[^]*\.(?:uploadpack|receivepack)$/.test(name)) settings.set('protocol.file.allow', 'never');
    const value = NEUTRAL.find(([key]) => key.test(name))?.[1];
    if (value !== undefined) settings.set(name, value);
  }
  return [...settings];
}
