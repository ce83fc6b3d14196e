import { accessSync, constants, lstatSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { wrongEnvironment } from '../../../model/errors.ts';
import { errorCode } from '../../../model/storage-error.ts';
import { foreignOwner } from './owner.ts';

/** Throws unless this user can make squad's state folder, or write in it where it is there. Changes nothing. */
export function requireStateFolder(path: string): void {
  const why = problemOf(path);
  if (why === undefined) return;
  throw wrongEnvironment(
    `squad keeps its state in ${path}, and cannot write there: ${why}`,
    'Correct that, or set XDG_STATE_HOME to a folder of yours.',
  );
}

function problemOf(path: string): string | undefined {
  for (let at = path; ; at = dirname(at)) {
    try {
      if (!statSync(at).isDirectory()) return `${at} is not a folder`;
      accessSync(at, constants.W_OK | constants.X_OK);
      return undefined;
    } catch (error) {
      const code = errorCode(error);
      if (code === 'ENOTDIR') continue;
      if (code === 'ENOENT' && dirname(at) !== at) {
        if (lstatSync(at, { throwIfNoEntry: false }) === undefined) continue;
        return `${at} is a link to nothing`;
      }
      const owner = foreignOwner(at);
      return `${at} refuses it (${code})${owner === undefined ? '' : `, and belongs to ${owner}`}`;
    }
  }
}
