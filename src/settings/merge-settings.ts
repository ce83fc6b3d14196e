import { mergeAgents } from '../model/acp-agents.ts';
import { settingsSchemaFor, type KnownNames, type Settings } from '../model/settings.ts';
import { isJsonObject } from '../text/json.ts';
import { withAgents, type RawSettings } from './parse-settings.ts';

/** Their keys are merged one by one. Those of `runtimes` are names, so that one file sets up a runtime. */
const MERGED = ['limits', 'models', 'runtimes', 'team', 'mail'];

/**
 * The user's own settings with those of a repository over them. Keys of the mappings above, of a playbook's section and of
 * `limits.task` are merged; anything else that the repository sets replaces what the user has, but for `plan: ask`. Both are parsed already.
 */
export function mergeSettings(
  own: RawSettings,
  repository: RawSettings,
  known: KnownNames,
): { readonly settings: Settings; readonly raw: RawSettings } {
  const raw = mergeKeys(own, repository, [...MERGED, ...Object.keys(known.sections)]);
  const [ownLimits, limits] = [own['limits'], repository['limits']];
  if (isJsonObject(ownLimits) && isJsonObject(limits)) raw['limits'] = mergeKeys(ownLimits, limits, ['task']);
  if (isJsonObject(raw['runtimes'])) raw['runtimes'] = { ...raw['runtimes'], ...mergeAgents(own, repository) };
  // A stranger's repository cannot do without the user's approval of plans.
  if (own['plan'] === 'ask') raw['plan'] = 'ask';
  return { settings: settingsSchemaFor(withAgents(known, raw)).parse(raw), raw };
}

/** One mapping over another; mappings under the keys in `inner` likewise. */
function mergeKeys(below: RawSettings, above: RawSettings, inner: readonly string[]): Record<string, unknown> {
  const merged = inner.flatMap((key): [string, unknown][] => {
    const [one, other] = [below[key], above[key]];
    return isJsonObject(one) && isJsonObject(other) ? [[key, { ...one, ...other }]] : [];
  });
  return { ...below, ...above, ...Object.fromEntries(merged) };
}
