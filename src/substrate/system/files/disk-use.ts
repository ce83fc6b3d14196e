import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const BLOCK = 512;

/**
 * Bytes that a file or a folder takes on the disk. Follows no link, counts a file with several names once (`seen`), and what cannot be read as
 * nothing. Content that the file system shares between files counts in each.
 */
export function diskUse(path: string, seen: Set<string> = new Set()): number {
  let bytes = 0;
  const left = [path];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    try {
      const found = lstatSync(next, { bigint: true });
      const name = `${found.dev}:${found.ino}`;
      if (found.nlink > 1n && !found.isDirectory()) {
        if (seen.has(name)) continue;
        seen.add(name);
      }
      bytes += Number(found.blocks) * BLOCK;
      if (found.isDirectory()) for (const one of readdirSync(next)) left.push(join(next, one));
    } catch {
      // It went meanwhile, or belongs to someone else.
    }
  }
  return bytes;
}
