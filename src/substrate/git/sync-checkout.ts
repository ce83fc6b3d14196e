import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncAll } from '../files/sync.ts';
import type { RawChange } from './raw-diff.ts';
import type { Repository } from './repository.ts';

/**
 * Returns once changed files of a checkout, their names and its index are on the disk. git flushes the index by itself
 * (`GitCall.durable`), and no file.
 */
export async function syncCheckout(
  { root, gitDirectory }: Pick<Repository, 'root' | 'gitDirectory'>,
  changes: readonly RawChange[],
): Promise<void> {
  const folders = new Set([root]);
  const files: string[] = [];
  for (const { path } of changes) {
    const own = join(root, path);
    // A link has no content to flush, and what is not checked out is not there.
    if (await is(own, 'file')) files.push(own);
    for (let folder = dirname(own); folder.length > root.length && !folders.has(folder); folder = dirname(folder)) {
      if (await is(folder, 'folder')) folders.add(folder);
    }
  }
  await syncAll([...files, ...folders, gitDirectory]);
}

async function is(path: string, kind: 'file' | 'folder'): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return kind === 'file' ? found?.isFile() === true : found?.isDirectory() === true;
}
