import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Returns once the file, or the names in the folder, are on the disk. */
export function syncFile(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
