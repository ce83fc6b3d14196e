import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Returns once the file, or the names in the folder, are on the disk. */
export function syncFile(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Makes a folder and those above it that are missing, for this user alone. Their names are on the disk then. */
export function makeSynced(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) syncFile(dirname(made));
}

/** Returns once all names in a folder, and in those below it, are on the disk. */
export async function syncNames(root: string): Promise<void> {
  const found = await readdir(root, { recursive: true, withFileTypes: true });
  const folders = found.filter((one) => one.isDirectory()).map(({ parentPath, name }) => join(parentPath, name));
  await syncAll([root, ...folders]);
}

/** As `syncFile` for many, at once: a disk then flushes for some of them together, in a tenth of the time. */
export async function syncAll(paths: readonly string[]): Promise<void> {
  const rest = [...paths];
  const lane = async (): Promise<void> => {
    for (let path = rest.pop(); path !== undefined; path = rest.pop()) {
      const file = await open(path, 'r');
      try {
        await file.sync();
      } finally {
        await file.close();
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

/** More threads than Node has for files do not help. */
const AT_ONCE = 16;
