import { errorText, isSquadError, SquadError } from './errors.ts';
import { limitByCode } from './machine-limit.ts';

/** Turns an error that says that a limit of the machine is reached into a SquadError. Returns other values unchanged. */
export function machineError(error: unknown): unknown {
  return isSquadError(error) ? error : (limitByCode(errorCode(error), error) ?? error);
}

/** Turns a file system error into a SquadError with the file and the next command. Returns other values unchanged. */
export function storageError(path: string, error: unknown): unknown {
  const code = errorCode(error);
  if (isSquadError(error) || code === undefined) return error;
  if (/^(?:ENOSPC|EDQUOT)$/.test(code)) return storageFull(path, error);
  if (/^E(?:ACCES|PERM|ROFS|IO|NOENT|NOTDIR|ISDIR|LOOP|INVAL|NXIO)$/.test(code))
    return storageRefused(path, errorText(error), error);
  return machineError(error);
}

/** For work on many files: converts only errors of the disk itself, about the file that the error names. */
export function diskError(path: string, error: unknown): unknown {
  if (!/^(?:ENOSPC|EDQUOT|EIO|EROFS)$/.test(errorCode(error) ?? '')) return machineError(error);
  const about = error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : path;
  return storageError(about, error);
}

export function storageFull(path: string, cause: unknown): SquadError {
  return new SquadError({
    code: 'storage-full',
    message: `${path}: no space is left on the disk; nothing of this step was written.`,
    next: 'Free some space, then resume what was under way: `squad resume`.',
    cause,
  });
}

export function storageRefused(path: string, what: string, cause: unknown): SquadError {
  return new SquadError({
    code: 'storage-refused',
    message: `${path}: the disk or its permissions refused it (${what}).`,
    next: 'Check that the folder exists and is writable, then run `squad db check`.',
    cause,
  });
}

/** The machine refused a write, or is out of something. The interrupted work did not fail and can be repeated. */
export function isStorageError(error: unknown): error is SquadError {
  return isSquadError(error) && MACHINE.has(error.code);
}

const MACHINE: ReadonlySet<string> = new Set(['storage-full', 'storage-refused', 'machine-limit']);

/** SqliteError and Node's own system errors both carry a textual code. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
