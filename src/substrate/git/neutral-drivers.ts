import type { Git } from './git-call.ts';

/** git's own text merge, in the place of a driver: an empty command would be refused, and `true` would keep one side. */
const TEXT_MERGE = 'git merge-file --marker-size=%L %A %O %B';

/**
 * Environment that makes every filter and merge driver which is configured anywhere do nothing. The names come from
 * configuration alone: attributes cannot define a driver. By GIT_CONFIG_* and not `-c`, because a name may hold `=`.
 *
 * What is left: a driver that is configured between this look and the call. Only config files can do that, and those no
 * agent can write; the baseline shows when one did.
 */
export async function neutralDrivers(git: Git, gitDirectory: string): Promise<Record<string, string>> {
  const names = await git.text(['config', '--list', '--name-only', '-z'], { cwd: gitDirectory, gitDirectory });
  return asEnvironment(decideNeutralSettings(names.split('\0')));
}

/** Settings that override the drivers among these names. */
export function decideNeutralSettings(names: readonly string[]): readonly (readonly [string, string])[] {
  const settings = new Map<string, string>();
  for (const name of names) {
    const filter = /^filter\.([^]*)\.[^.]+$/.exec(name)?.[1];
    if (filter !== undefined) {
      for (const part of ['clean', 'smudge', 'process']) settings.set(`filter.${filter}.${part}`, '');
      settings.set(`filter.${filter}.required`, 'false');
    }
    if (/^merge\.[^]*\.driver$/.test(name)) settings.set(name, TEXT_MERGE);
  }
  return [...settings];
}

function asEnvironment(settings: readonly (readonly [string, string])[]): Record<string, string> {
  const pairs = settings.flatMap(([name, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, name],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(pairs) };
}
