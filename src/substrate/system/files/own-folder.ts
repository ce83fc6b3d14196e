import { lstatSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { storageError, storageRefused } from '../../../model/storage-error.ts';

/**
 * Makes a folder of squad's own that is missing. What is no folder in its place is removed: it holds nothing of the folder. Throws `storage-refused`
 * for a link to what is no folder: a person may have put the folder on another disk.
 */
export function makeOwnFolder(path: string): void {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory() === true) return;
    if (found?.isSymbolicLink() === true) return requireLinked(path);
    if (found !== undefined) rmSync(path);
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw storageError(path, error);
  }
}

function requireLinked(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw storageRefused(path, 'it is a link to what is no folder', undefined);
}
