import { dirname, join } from 'node:path';
import { errorCode } from '../../model/storage-error.ts';
import { syncAll } from '../system/files/sync.ts';

/**
 * Returns once the name of a ref is on the disk. Its content is there before it: git flushes it first (`GitCall.durable`). `known`:
 * folders whose own names are there.
 */
export async function syncRef(gitDirectory: string, ref: string, known: Set<string>): Promise<void> {
  const own = dirname(join(gitDirectory, ref));
  const folders = [own];
  for (
    let folder = dirname(own);
    folder.length >= gitDirectory.length && !known.has(folder);
    folder = dirname(folder)
  ) {
    folders.push(folder);
  }
  try {
    await syncAll(folders);
  } catch (error) {
    // A `git pack-refs` has packed the ref, and flushed that file, and removed the folder that is empty now.
    if (errorCode(error) === 'ENOENT') return syncAll([gitDirectory]);
    throw error;
  }
  for (const folder of folders.slice(1)) known.add(folder);
}
