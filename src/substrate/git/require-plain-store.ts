import { join } from 'node:path';
import { wrongEnvironment } from '../../model/errors.ts';
import { plainLine } from '../../text/plain-text.ts';
import { shellWord } from '../../text/shell-word.ts';
import { findOddEntries } from '../system/files/odd-entry.ts';
import { commonDirectoryAt } from './plain-checkout.ts';

/** git opens these for every command. */
const OPENED = ['HEAD', 'config', 'packed-refs', 'info', 'refs', 'objects'];

/** Throws, with its name, where a pipe, a socket or a device is in the place of a ref or an object: each git would wait there for ever. */
export function requirePlainStore(path: string): void {
  const directory = commonDirectoryAt(path);
  if (directory === undefined) return;
  for (const name of OPENED) {
    const [odd] = findOddEntries(join(directory, name), { links: false });
    if (odd === undefined) continue;
    const shown = plainLine(odd.path, 1_000);
    throw wrongEnvironment(
      `${shown} is ${odd.kind}, and git would wait there for ever`,
      `Remove it with \`rm ${shellWord(shown)}\`. Then \`git fsck\` names what the repository misses.`,
    );
  }
}
