import { join, resolve } from 'node:path';
import { readPlain } from './read-plain.ts';

const MOST_STORES = 20;

/** An object store of git's, and the stores that it borrows from. */
export async function storesBehind(objects: string): Promise<readonly string[]> {
  const stores = [objects];
  for (const store of stores) {
    const text = await readPlain(join(store, 'info', 'alternates')).catch(() => '');
    for (const line of text.split('\n')) {
      const other = resolve(store, line);
      if (line !== '' && stores.length < MOST_STORES && !stores.includes(other)) stores.push(other);
    }
  }
  return stores;
}
