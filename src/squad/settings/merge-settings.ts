import { mergeAgents } from '../../model/acp-agents.ts';
import { mergeKeep, type KeepSetting } from '../../model/keep.ts';
import type { Limits } from '../../model/limits.ts';
import { mergeServe, type ServeSettings } from '../../model/shared-limits.ts';
import { settingsSchemaFor, type KnownNames, type Settings } from '../../model/settings.ts';
import { isJsonObject } from '../../text/json.ts';
import { decideLimits, limitsIn } from './decide-limits.ts';
import { withAgents, type RawSettings } from './parse-settings.ts';

/** Their keys are merged one by one. Those of `runtimes` are names, so that one file sets up a runtime. */
const MERGED = ['models', 'runtimes', 'team', 'mail'];

/**
 * Merges `MERGED` and playbook sections key by key; limits of the repository only lower the user's. Any other key of the
 * repository replaces the user's, except that the user's `plan: ask` and `folders: new` stay. Both are parsed already.
 */
export function mergeSettings(
  own: RawSettings,
  repository: RawSettings,
  known: KnownNames,
): { readonly settings: Settings; readonly raw: RawSettings } {
  const raw = mergeKeys(own, repository, [...MERGED, ...Object.keys(known.sections)]);
  raw['limits'] = limitsWithoutConsent(own, repository);
  if (isJsonObject(raw['runtimes'])) raw['runtimes'] = { ...raw['runtimes'], ...mergeAgents(own, repository) };
  if (own['keep'] !== undefined) raw['keep'] = mergeKeep(own['keep'] as KeepSetting, repository['keep'] as KeepSetting);
  if (own['serve'] !== undefined)
    raw['serve'] = mergeServe(own['serve'] as Partial<ServeSettings>, repository['serve'] ?? {});
  // A stranger's repository cannot do without the user's approval of plans.
  if (own['plan'] === 'ask') raw['plan'] = 'ask';
  if (own['folders'] === 'new') raw['folders'] = 'new';
  return { settings: settingsSchemaFor(withAgents(known, raw)).parse(raw), raw };
}

/** The limits that hold as long as no person has agreed to more. */
export function limitsWithoutConsent(own: RawSettings | undefined, repository: RawSettings): Limits {
  const sources = [{ where: '', limits: limitsIn(repository) }];
  return decideLimits({ own: limitsIn(own), sources, commandLine: {} }).held;
}

/** One mapping over another; mappings under the keys in `inner` likewise. */
function mergeKeys(below: RawSettings, above: RawSettings, inner: readonly string[]): Record<string, unknown> {
  const merged = inner.flatMap((key): [string, unknown][] => {
    const [one, other] = [below[key], above[key]];
    return isJsonObject(one) && isJsonObject(other) ? [[key, { ...one, ...other }]] : [];
  });
  return { ...below, ...above, ...Object.fromEntries(merged) };
}
