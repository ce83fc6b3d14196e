import { isAbsolute, join } from 'node:path';
import { type GitSettings, gitSettingsEnvironment } from '../../model/git-settings.ts';
import { type Git, type GitPorts, SQUAD_IDENTITY } from './git-call.ts';

export interface ConfigEntry {
  /** Section and variable in lower case, as git lists them. */
  readonly key: string;
  readonly value: string;
}

/** Every setting that the user's own git reads from files for a repository, in git's order. */
export async function readUserConfiguration(
  { environment }: Pick<GitPorts, 'environment'>,
  git: Git,
  gitDirectory: string,
): Promise<readonly ConfigEntry[]> {
  const call = { cwd: gitDirectory, gitDirectory, environment: userFiles(environment) };
  const parts = (await git.text(['config', '--list', '--show-scope', '-z'], call)).split('\0');
  return parts.flatMap((part, index) => (index % 2 === 1 && parts[index - 1] !== 'command' ? [entryOf(part)] : []));
}

function userFiles(environment: GitPorts['environment']): Record<string, string> {
  const file = environment['GIT_CONFIG_GLOBAL'];
  return file === undefined ? {} : { GIT_CONFIG_GLOBAL: file };
}

/** A key contains no line break. A key without a value means true. */
function entryOf(text: string): ConfigEntry {
  const end = text.indexOf('\n');
  return end === -1 ? { key: text, value: 'true' } : { key: text.slice(0, end), value: text.slice(end + 1) };
}

/** The environment of a git that reads these settings of the user, but runs none of their filters. No one setting says so. */
export function withoutFilters(
  { environment }: Pick<GitPorts, 'environment'>,
  entries: readonly ConfigEntry[],
): Record<string, string> {
  const names = new Set(entries.flatMap(({ key }) => /^filter\.([^]*)\.[^.]+$/.exec(key)?.[1] ?? []));
  const settings = [...names].flatMap((name): GitSettings => {
    return [
      [`filter.${name}.clean`, ''],
      [`filter.${name}.process`, ''],
      [`filter.${name}.required`, 'false'],
    ];
  });
  return { ...userFiles(environment), ...gitSettingsEnvironment(settings) };
}

/** The user's own file of ignored paths or of attributes for all repositories, which git takes from its default place if no setting names it. */
export function personalFile(
  entries: readonly ConfigEntry[],
  { HOME: home, XDG_CONFIG_HOME: settings }: GitPorts['environment'],
  key: 'excludesfile' | 'attributesfile',
): string | undefined {
  const named = entries.findLast((entry) => entry.key === `core.${key}`)?.value;
  const places = home === undefined || home === '' ? undefined : join(home, '.config');
  const folder = settings === undefined || settings === '' ? places : settings;
  const path =
    named === undefined
      ? folder && join(folder, 'git', key === 'excludesfile' ? 'ignore' : 'attributes')
      : named.replace(/^~(?=\/)/, home ?? '~');
  return path !== undefined && isAbsolute(path) ? path : undefined;
}

/** They count more than what `setup` or an agent writes into the configuration of the task's folder. */
const AGENTS: GitSettings = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  // Automatic maintenance rewrites packs, which sandboxes refuse.
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  // A commit that squad has not looked at yet outlives a power cut.
  ['core.fsync', 'committed,reference'],
  ['core.fsyncMethod', 'batch'],
];

/** Settings for the git of agents, which reads no configuration but that of the task's folder. */
export function decideAgentSettings(
  entries: readonly ConfigEntry[],
  environment: Readonly<Record<string, string | undefined>>,
): GitSettings {
  const { name, email } = decideIdentity(entries, environment) ?? SQUAD_IDENTITY;
  return [...AGENTS, ['user.name', name], ['user.email', email]];
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
