import { readConfinedStart } from '../../substrate/system/files/open-confined.ts';
import { exists } from '../../substrate/system/files/exists.ts';
import type { SettingsFile } from './read-settings.ts';

const FILE = 'squad.yaml';
/** More than a settings file may have, so that its parser reports its own limit. */
const MOST_BYTES = 300 * 1024;

/** The text of squad.yaml, empty if there is no such file. Loads nothing that only runs need, because the service stays in memory. */
export async function readSettingsText(root: string): Promise<SettingsFile> {
  const text = (await readConfinedStart(root, FILE, MOST_BYTES))?.text ?? (await textOrRefusal(root));
  return { file: FILE, text };
}

/** Whether a settings file seems to have a section, also in the form of JSON. Where it has none, nothing of it is loaded. */
export function namesSection(text: string, section: 'sprint' | 'channels' | 'forge'): boolean {
  return NAMES[section].test(text);
}

const NAMES = {
  sprint: /(?:^|[{,])\s*["']?sprint["']?\s*:/m,
  channels: /(?:^|[{,])\s*["']?channels["']?\s*:/m,
  forge: /(?:^|[{,])\s*["']?forge["']?\s*:/m,
} as const;

async function textOrRefusal(root: string): Promise<string> {
  if (!(await exists(`${root}/${FILE}`))) return '';
  const { orThrow, readConfined } = await import('./read-input.ts');
  const read = await readConfined(root, FILE);
  return read.type === 'absent' ? '' : orThrow(read, FILE);
}
