import type { z } from 'zod';
import type { Finding } from '../../text/explain-issue.ts';
import type { Json } from '../../text/json.ts';
import { parseYaml } from '../../text/yaml-file.ts';
import type { SettingsFile } from './read-settings.ts';
import { readSettingsText } from './read-settings-text.ts';

/**
 * One section of a repository's settings, and the file that has it. Throws `bad-input` for all that is wrong with it. Loads nothing that only
 * runs need, because the service stays in memory. `example`: a correct one.
 */
export async function readSection<Value>(
  root: string,
  name: string,
  {
    schema,
    example,
    findings = () => [],
  }: {
    readonly schema: z.ZodType<Value>;
    readonly example: string;
    readonly findings?: (section: Json) => readonly Finding[];
  },
): Promise<{ readonly value: Value; readonly source: SettingsFile }> {
  const source = await readSettingsText(root);
  const parsed = parseYaml({ ...source, firstLine: 1, examples: { '': example, [name]: example } }, schema, (raw) => {
    const section = raw[name];
    return section === undefined ? [] : [...findings(section)];
  });
  if (!parsed.ok) throw (await import('./read-input.ts')).problemError(parsed.problems);
  return { value: parsed.value, source };
}
