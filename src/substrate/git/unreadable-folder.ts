import { errorCode } from '../../model/storage-error.ts';
import { textOfPath } from '../files/plain-folder.ts';

/** Why a folder cannot be read as the files of a commit. */
export class UnreadableFolder extends Error {}

/** What the folder refuses is the folder's. */
export function asUnreadable(path: string, error: unknown): unknown {
  if (!/^(?:EACCES|EPERM|ENAMETOOLONG)$/.test(errorCode(error) ?? '')) return error;
  return new UnreadableFolder(`${textOfPath(path) || 'it'} cannot be read: ${(error as Error).message}`);
}
