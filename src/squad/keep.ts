import { join } from 'node:path';
import type { Host } from '../engine/machine.ts';
import { decideKeep, type Keep, type KeepSetting } from '../model/keep.ts';
import { readConfinedStart } from '../substrate/system/files/open-confined.ts';
import { readPlain } from '../substrate/system/files/read-plain.ts';

const SETTINGS_FILE = 'squad.yaml';
/** A settings file that any command reads has less. */
const MOST_BYTES = 1024 * 1024;

/** How long this person and this repository want things kept. Reads nothing else of the settings. */
export async function readKeep(root: string, { configHome }: Pick<Host, 'configHome'>): Promise<Keep> {
  const own = join(configHome, 'squad', 'config.yaml');
  const repository = await readConfinedStart(root, SETTINGS_FILE, MOST_BYTES);
  return decideKeep(
    await parse(await readPlain(own).catch(() => ''), own),
    await parse(repository?.text ?? '', SETTINGS_FILE),
  );
}

/** Loads what reads YAML only for a file that has the key: `squad status` does without it elsewhere. */
async function parse(text: string, file: string): Promise<KeepSetting | undefined> {
  if (!/^["']?keep\b/m.test(text)) return undefined;
  return (await import('./preflight/parse-keep.ts')).parseKeep(text, file);
}
