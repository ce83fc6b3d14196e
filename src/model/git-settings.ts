import { z } from 'zod';

/** Keys of git's configuration with their values, in order: of a key that is there twice the last one counts. */
export const gitSettingsSchema = z.array(z.tuple([z.string(), z.string()]).readonly()).readonly();
export type GitSettings = z.infer<typeof gitSettingsSchema>;

/**
 * Variables by which git takes settings: they count after every file, in each git that inherits them. Not `-c`, because a
 * name may hold `=`.
 */
export function gitSettingsEnvironment(settings: GitSettings): Record<string, string> {
  if (settings.length === 0) return {};
  const pairs = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(pairs) };
}
