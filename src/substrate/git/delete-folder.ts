import { chmod, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../files/remove-tree.ts';

/**
 * Deletes what is there, and never follows a link. Folders that cannot be written are opened first: package managers
 * leave such (Go's module cache). Returns why not, or undefined.
 */
export async function deleteFolder(path: string): Promise<string | undefined> {
  const first = await remove(path);
  // `removeTree` does that itself there, by open handles.
  if (first === undefined || process.platform === 'linux') return first;
  await open(path);
  return remove(path);
}

async function remove(path: string): Promise<string | undefined> {
  try {
    await removeTree(path);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function open(path: string): Promise<void> {
  try {
    if (!(await lstat(path)).isDirectory()) return;
    await chmod(path, 0o700);
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (entry.isDirectory()) await open(join(path, entry.name));
    }
  } catch {
    // It went away, or is another user's: the second try says which.
  }
}
