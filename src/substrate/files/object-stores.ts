import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const MOST_STORES = 20;

/** An object store of git's, and the stores that it borrows from. */
export async function storesBehind(objects: string): Promise<readonly string[]> {
  const stores = [objects];
  for (const store of stores) {
    const text = await readFile(join(store, 'info', 'alternates'), 'utf8').catch(() => '');
    for (const line of text.split('\n')) {
      const other = resolve(store, line);
      if (line !== '' && stores.length < MOST_STORES && !stores.includes(other)) stores.push(other);
    }
  }
  return stores;
}
