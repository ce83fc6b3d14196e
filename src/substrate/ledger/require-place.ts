import { accessSync, constants } from 'node:fs';
import { SquadError, wrongEnvironment } from '../../model/errors.ts';
import { errorCode } from '../../model/storage-error.ts';
import { foreignOwner } from '../system/files/owner.ts';
import { runsBackup } from './backup-files.ts';
import { ledgerPath } from './ledger-file.ts';

/** SQLite opens no longer path, in bytes, on Linux and macOS. */
const MOST_BYTES = 511;
/** The longest suffix of a backup while it is written: the largest process id, then SQLite's own. */
const UNFINISHED = '.4194304.new-journal';

/** Throws where the folder of a ledger has a path that is too long for the ledger or its backups. */
export function requireShortPath(directory: string): void {
  const bytes = Buffer.byteLength(`${runsBackup(ledgerPath(directory), 0)}${UNFINISHED}`);
  if (bytes <= MOST_BYTES) return;
  const over = bytes - MOST_BYTES;
  throw wrongEnvironment(
    `the path ${directory} is ${over} byte${over === 1 ? '' : 's'} too long: SQLite opens the ledger and its backups up to ${MOST_BYTES} bytes`,
    'Move the folder to a shorter path.',
  );
}

/** Throws where the folder of a ledger is there for another user alone: that it cannot be seen does not mean that it is empty. */
export function requireOwnFolder(directory: string): void {
  try {
    accessSync(directory, constants.R_OK | constants.X_OK);
  } catch (error) {
    const code = errorCode(error) ?? '';
    if (code !== 'EACCES' && code !== 'EPERM') return;
    throw new SquadError({
      code: 'storage-refused',
      message: `${directory} belongs to ${foreignOwner(directory) ?? 'this user, who may not read it'} (${code})`,
      next: 'Work in a clone of your own, which has its own runs: `git clone` this one.',
      cause: error,
    });
  }
}
