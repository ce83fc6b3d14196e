import { join } from 'node:path';
import { readConfinedStart } from '../../substrate/system/files/open-confined.ts';
import { stampOf } from './watched-files.ts';

const FILE = 'squad.yaml';
const MOST_BYTES = 300 * 1024;

/** Whether squad.yaml has a section `sprint` or `channels`, read again when the file changes. Its process reads what the section says. */
export function sprintsNow(root: string): () => Promise<boolean> {
  let known = false;
  let stamp: string | undefined;
  return async () => {
    const now = stampOf([join(root, FILE)]);
    if (now === stamp) return known;
    stamp = now;
    const read = await readConfinedStart(root, FILE, MOST_BYTES).catch(() => undefined);
    known = /^["']?(?:sprint|channels)\b/m.test(read?.text ?? '');
    return known;
  };
}
