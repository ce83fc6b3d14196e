import { join } from 'node:path';
import { z } from 'zod';
import type { Host } from '../engine/machine.ts';
import { decideKeep, KEEP_EXAMPLE, keepSchema, type Keep, type KeepSetting } from '../model/keep.ts';
import { parseYaml } from '../text/yaml-file.ts';
import { orThrow, problemError, readConfined, readText, SETTINGS_FILE } from './preflight/read-input.ts';

const schema = z.looseObject({ keep: keepSchema.optional() });

/** How long this person and this repository want things kept. Reads nothing else of the settings. */
export async function readKeep(root: string, { configHome }: Pick<Host, 'configHome'>): Promise<Keep> {
  const own = join(configHome, 'squad', 'config.yaml');
  return decideKeep(
    parse(await readText(own, own), own),
    parse(await readConfined(root, SETTINGS_FILE), SETTINGS_FILE),
  );
}

function parse(read: Awaited<ReturnType<typeof readText>>, file: string): KeepSetting | undefined {
  if (read.type === 'absent') return undefined;
  const text = orThrow(read, file);
  if (!/^["']?keep\b/m.test(text)) return undefined;
  const source = { file, text, firstLine: 1, examples: { '': KEEP_EXAMPLE, keep: KEEP_EXAMPLE } };
  const parsed = parseYaml(source, schema);
  if (!parsed.ok) throw problemError(parsed.problems);
  return parsed.value.keep;
}
