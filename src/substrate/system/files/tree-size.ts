import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Bytes of a file, or of the files in a folder. Follows no link; what cannot be read counts as nothing. */
export async function treeSize(path: string): Promise<number> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return 0;
  if (!found.isDirectory()) return found.size;
  let bytes = 0;
  // One after the other, which bounds the open handles.
  for (const name of await readdir(path).catch(() => [])) bytes += await treeSize(join(path, name));
  return bytes;
}
