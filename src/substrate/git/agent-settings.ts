import type { GitSettings } from '../../model/git-settings.ts';
import { readConfiguration, type ConfigEntry, neutralSettings } from './neutral-settings.ts';
import { SQUAD_IDENTITY, type Git, type GitPorts } from './git-call.ts';

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
  const [entries, ...neutral] = await Promise.all([
    readUserConfiguration(ports, git, commonDirectory),
    neutralSettings(git, commonDirectory, { XDG_CONFIG_HOME: '' }),
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
