import { errorCode } from '../../model/storage-error.ts';
import { textOfPath } from '../system/files/plain-folder.ts';

/** Why a folder cannot be read as the files of a commit. */
export class UnreadableFolder extends Error {}

/** Errors that the folder itself causes become `UnreadableFolder`; other errors stay as they are. */
export function asUnreadable(path: string, error: unknown): unknown {
  if (!/^(?:EACCES|EPERM|ENAMETOOLONG)$/.test(errorCode(error) ?? '')) return error;
  return new UnreadableFolder(`${textOfPath(path) || 'it'} cannot be read: ${(error as Error).message}`);
}
