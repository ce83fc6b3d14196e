import { wrongEnvironment } from '../../model/errors.ts';
import { type GitSettings, gitSettingsEnvironment } from '../../model/git-settings.ts';
import { type Git, type GitCall, gitFailed, type GitPorts, splitEntries, SQUAD_IDENTITY } from './git-call.ts';

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
async function neutralSettings(
  git: Git,
  gitDirectory: string,
  environment?: Readonly<Record<string, string>>,
  known?: readonly ConfigEntry[],
): Promise<GitSettings> {
  const entries = known ?? (await readConfiguration(git, gitDirectory, environment));
  const acting = entries.filter((entry) => !isHarmless(entry)).map(({ key }) => key);
  const names = [...acting, ...(await conditionalKeys(git, gitDirectory, entries))];
  const settings = decideNeutralSettings(names);
  if (settings.length <= MOST && settings.flat().join('').length <= MOST_CHARACTERS) return settings;
  throw wrongEnvironment(
    `git's configuration names ${settings.length} programs (filters, drivers, aliases and the like), more than squad can override`,
    'Look at `git config --list --show-origin`, and remove what you do not need.',
  );
}

/** Aliases without a program, because a user may have hundreds, and submodules without a command. */
function isHarmless({ key, value }: ConfigEntry): boolean {
  if (key.startsWith('alias.')) return !/^\s*[!-]/.test(value);
  return /^submodule\.[^]*\.update$/.test(key) && !value.startsWith('!');
}

/** The same settings as environment variables for the engine's own git calls. `known`: the configuration, if it was just read. */
export async function neutralDrivers(
  git: Git,
  gitDirectory: string,
  known?: readonly ConfigEntry[],
): Promise<Record<string, string>> {
  return gitSettingsEnvironment(await neutralSettings(git, gitDirectory, undefined, known));
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

export interface ConfigEntry {
  /** Section and variable in lower case, as git lists them. */
  readonly key: string;
  readonly value: string;
}

/** git follows nested includes to this depth. */
const DEPTH = 10;

/** Every setting that git reads from files for a repository, in git's order. */
async function readConfiguration(
  git: Git,
  gitDirectory: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<readonly ConfigEntry[]> {
  const call = { cwd: gitDirectory, gitDirectory, environment };
  const text = await git.text(['config', '--list', '--show-scope', '-z'], call);
  return pairsOf(text).flatMap(([scope, entry]) => (scope === 'command' ? [] : [entryOf(entry)]));
}

/** Keys of conditionally included files, even if the condition is false now: an agent can make it true, e.g. by a branch name. */
async function conditionalKeys(
  git: Git,
  gitDirectory: string,
  entries: readonly ConfigEntry[],
): Promise<readonly string[]> {
  const call = { cwd: gitDirectory, gitDirectory };
  if (!entries.some(({ key }) => key.startsWith('includeif.'))) return [];
  const keys = new Set<string>();
  const seen = new Set<string>();
  let files = await conditionalFiles(git, call, []);
  for (let depth = 0; depth < DEPTH && files.length > 0; depth += 1) {
    const next: string[] = [];
    for (const file of files.filter((path) => !seen.has(path))) {
      seen.add(file);
      const where = ['--file', file, '--includes'];
      const { code, stdout } = await git.run(['config', ...where, '--list', '--name-only', '-z'], call);
      // git cannot read the file either.
      if (code !== 0) continue;
      for (const key of splitEntries(stdout)) keys.add(key);
      next.push(...(await conditionalFiles(git, call, where)));
    }
    files = next;
  }
  return [...keys];
}

/** Absolute paths by git's rules: `~` is a home directory, and a relative path starts at the file that names it. */
async function conditionalFiles(git: Git, call: GitCall, where: readonly string[]): Promise<readonly string[]> {
  const args = ['config', ...where, '--show-origin', '--type=path', '-z', '--get-regexp', '^includeif\\.'];
  const answer = await git.run(args, call);
  if (answer.code === 1) return [];
  if (answer.code !== 0) throw gitFailed(args, answer);
  return pairsOf(answer.stdout).flatMap(([origin, entry]) => {
    const { value } = entryOf(entry);
    if (value.startsWith('/')) return [value];
    const folder = /^file:(\/.*)\/[^/]*$/s.exec(origin)?.[1];
    return folder === undefined ? [] : [`${folder}/${value}`];
  });
}

function pairsOf(text: string): [string, string][] {
  const parts = text.split('\0');
  return parts.flatMap((part, index) => (index % 2 === 1 ? [[parts[index - 1] ?? '', part]] : []));
}

/** A key contains no line break. A key without a value means true. */
function entryOf(text: string): ConfigEntry {
  const end = text.indexOf('\n');
  return end === -1 ? { key: text, value: 'true' } : { key: text.slice(0, end), value: text.slice(end + 1) };
}

/** Settings that always apply. Configured programs are also overridden by name. */
const ALWAYS: GitSettings = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  // An agent has no signing key.
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
  ['tag.forceSignAnnotated', 'false'],
  ['push.gpgSign', 'false'],
  ['log.showSignature', 'false'],
  ['merge.verifySignatures', 'false'],
  ['protocol.ext.allow', 'never'],
  // Automatic maintenance rewrites packs, which sandboxes refuse.
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
];

export async function agentSettings(ports: GitPorts, git: Git, commonDirectory: string): Promise<GitSettings> {
  // Agents get XDG_CONFIG_HOME only if the user lets it through, so they may read either configuration.
  const moved = (ports.environment['XDG_CONFIG_HOME'] ?? '') !== '';
  const entries = await readUserConfiguration(ports, git, commonDirectory);
  const same = !moved && ports.environment['GIT_CONFIG_GLOBAL'] === undefined;
  const neutral = await Promise.all([
    neutralSettings(git, commonDirectory, { XDG_CONFIG_HOME: '' }, same ? entries : undefined),
    ...(moved ? [neutralSettings(git, commonDirectory)] : []),
  ]);
  const { name, email } = decideIdentity(entries, ports.environment) ?? SQUAD_IDENTITY;
  return [...new Map([...neutral.flat(), ...ALWAYS, ['user.name', name], ['user.email', email]])];
}

/** The configuration that the user's own git reads. */
export function readUserConfiguration(
  { environment }: Pick<GitPorts, 'environment'>,
  git: Git,
  gitDirectory: string,
): Promise<readonly ConfigEntry[]> {
  const file = environment['GIT_CONFIG_GLOBAL'];
  return readConfiguration(git, gitDirectory, file === undefined ? {} : { GIT_CONFIG_GLOBAL: file });
}

/** The user's identity, by git's order of precedence; undefined if git would refuse to commit or would guess. */
export function decideIdentity(
  entries: readonly ConfigEntry[],
  environment: Readonly<Record<string, string | undefined>>,
): { readonly name: string; readonly email: string } | undefined {
  const set = (key: string) => entries.findLast((entry) => entry.key === key)?.value;
  const first = (...values: readonly (string | undefined)[]) =>
    values.map((value) => value?.trim()).find((value) => value !== undefined && value !== '');
  const name = first(environment['GIT_AUTHOR_NAME'], set('author.name'), set('user.name'));
  const email = first(environment['GIT_AUTHOR_EMAIL'], set('author.email'), set('user.email'), environment['EMAIL']);
  return name === undefined || email === undefined ? undefined : { name, email };
}
