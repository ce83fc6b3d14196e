import { lstatSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Where the system would look for an absolute path, which need not exist: links are followed before `..` is. undefined:
 * unknown, as with a link to nothing, behind which a file would be created.
 */
export function realPath(path: string): string | undefined {
  let at = '/';
  try {
    for (const part of path.split('/')) {
      const next = join(at, part);
      const isThere = part === '..' || lstatSync(next, { throwIfNoEntry: false }) !== undefined;
      // Not the other one, which keeps the capitals as they were typed where the system does not tell them apart.
      at = part === '..' ? dirname(at) : isThere ? realpathSync.native(next) : next;
    }
    return at;
  } catch {
    return undefined;
  }
}
