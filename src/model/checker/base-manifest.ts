import { asObject, fieldsOf } from '../../text/json.ts';

/**
 * A package.json as the work has it, with the scripts and settings of tools as they were: what it depends on stays, so that `setup` still
 * fits. undefined: one of the two is no such file.
 */
export function withBaseParts(now: string, base: string, parts: readonly string[]): string | undefined {
  const [work, before] = [fieldsOf(now), fieldsOf(base)];
  if (Object.keys(work).length === 0 || Object.keys(before).length === 0) return undefined;
  const keys = parts.flatMap((part) => /^“(.+)”$/.exec(part)?.[1] ?? []);
  const old = asObject(before['scripts']);
  const added = Object.keys(old)
    .flatMap((name) => [`pre${name}`, `post${name}`])
    .filter((name) => !(name in old));
  const own = Object.entries(asObject(work['scripts'])).filter(([name]) => !added.includes(name));
  const settings = Object.fromEntries(keys.map((key) => [key, before[key]]));
  return `${JSON.stringify({ ...work, ...settings, scripts: { ...Object.fromEntries(own), ...old } }, null, 2)}\n`;
}
