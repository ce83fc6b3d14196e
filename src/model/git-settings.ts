import { z } from 'zod';

/** Keys of git's configuration with their values, in order. If a key appears twice, the last value counts. */
export const gitSettingsSchema = z.array(z.tuple([z.string(), z.string()]).readonly()).readonly();
export type GitSettings = z.infer<typeof gitSettingsSchema>;

/** Variables with which git reads no configuration of the user or the system, which could name programs. */
export const REPOSITORY_ONLY = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };

/** Variables with these settings for git, which override every file. `-c` does not work, because a name may contain `=`. */
export function gitSettingsEnvironment(settings: GitSettings): Record<string, string> {
  if (settings.length === 0) return {};
  const pairs = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(pairs) };
}
