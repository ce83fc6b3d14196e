import { isDeepStrictEqual } from 'node:util';
import { rawSettings } from '../../settings/parse-settings.ts';

/**
 * Settings with a section added at their end. undefined: they have it, or would mean something else with it, as those in braces do, or
 * cannot be read.
 */
export function withSection(text: string, section: string, key: string): string | undefined {
  const before = rawSettings(text);
  if (key in before) return undefined;
  const end = text === '' || text.endsWith('\n') ? '' : '\n';
  const joined = `${text}${end}${text.trim() === '' ? '' : '\n'}${section}`;
  const { [key]: added, ...rest } = rawSettings(joined);
  return added !== undefined && isDeepStrictEqual(rest, before) ? joined : undefined;
}
