import { statSync } from 'node:fs';
import { newestBackup } from './backup-files.ts';
import { errorText, isSquadError, SquadError, usageError } from '../../model/errors.ts';
import { limitReached } from '../../model/machine-limit.ts';
import { softLimit } from '../system/process/user-limits.ts';
import { errorCode, storageError, storageFull, storageRefused } from '../../model/storage-error.ts';

export function corruptDatabase(path: string, what: string, cause?: unknown): SquadError {
  return new SquadError({ code: 'database-corrupt', message: `${path}: ${what}`, next: afterDamage(path), cause });
}

function afterDamage(path: string): string {
  const newest = newestBackup(path);
  const check = 'Run `squad db check`. It names the damage and the backups.';
  return newest === undefined ? check : `${check} The newest is ${newest}. docs/database.md says how to restore it.`;
}

/** The file was never completely made: it is not damaged, and holds nothing. */
export function neverSetUp(path: string): SquadError {
  return usageError(`${path}: no run was ever started here.`, 'Start one: `squad run objective.md`.');
}

/** SQLite has no code of its own for a header that names a format of the future. */
function isDamage(code: string, error: unknown): boolean {
  return /^SQLITE_(CORRUPT|NOTADB|FORMAT)/.test(code) || /unsupported file format/.test(errorText(error));
}

/** Turns an error of SQLite or the file system into a SquadError. Returns other values unchanged. */
export function databaseError(path: string, error: unknown): unknown {
  if (isSquadError(error)) return error;
  const code = errorCode(error);
  if (code === undefined) return error;
  if (isDamage(code, error)) {
    return corruptDatabase(path, `the database is damaged (${errorText(error)}).`, error);
  }
  // Only while it is made does a database have such a journal, which a power cut leaves. Who opens it for writing makes it anew.
  if (code === 'SQLITE_READONLY_ROLLBACK') return neverSetUp(path);
  if (code === 'SQLITE_FULL') return storageFull(path, error);
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) {
    return new SquadError({
      code: 'workspace-busy',
      message: `${path}: another program locked the database for too long.`,
      next: 'Close the program that has the file open, then run the command again.',
      cause: error,
    });
  }
  if (/^SQLITE_(READONLY|IOERR|CANTOPEN|PERM|AUTH|NOLFS)/.test(code)) {
    return reachedSizeLimit(path, error) ?? storageRefused(path, errorText(error), error);
  }
  return storageError(path, error);
}

/** A file of the database is written in pages, some of them at once. */
const NEAR_BYTES = 64 * 1024;

/** SQLite says no more than that writing failed. undefined: no file of the database is near the limit of this user's files. */
function reachedSizeLimit(path: string, error: unknown): SquadError | undefined {
  const most = softLimit('Max file size');
  if (most === undefined) return undefined;
  const sizes = ['', '-wal', '-shm'].map((end) => statSync(`${path}${end}`, { throwIfNoEntry: false })?.size ?? 0);
  return Math.max(...sizes) + NEAR_BYTES > most ? limitReached('size', error) : undefined;
}

export function isFull(error: unknown): boolean {
  return isSquadError(error) && error.code === 'storage-full';
}
