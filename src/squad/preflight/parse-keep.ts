import { z } from 'zod';
import { KEEP_EXAMPLE, keepSchema, type KeepSetting } from '../../model/keep.ts';
import { parseYaml } from '../../text/yaml-file.ts';
import { problemError } from './read-input.ts';

const schema = z.looseObject({ keep: keepSchema.optional() });

/** The key `keep` of a settings file. Throws `bad-input` with the line and an example. */
export function parseKeep(text: string, file: string): KeepSetting | undefined {
  const source = { file, text, firstLine: 1, examples: { '': KEEP_EXAMPLE, keep: KEEP_EXAMPLE } };
  const parsed = parseYaml(source, schema);
  if (!parsed.ok) throw problemError(parsed.problems);
  return parsed.value.keep;
}
