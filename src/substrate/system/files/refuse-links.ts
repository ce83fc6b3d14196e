import { lstatSync } from 'node:fs';
import { join } from 'node:path';

/** Throws if a folder on the way from `root` to `folder`, or this itself, is a link, which leads elsewhere. `missing`: makes one. */
export async function refuseLinks(
  root: string,
  folder: string,
  missing?: (path: string) => Promise<unknown>,
): Promise<void> {
  const parts = folder.split('/').filter((part) => part !== '.');
  for (const [index] of parts.entries()) {
    const path = join(root, ...parts.slice(0, index + 1));
    // At once: asking another thread takes ten times as long.
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isSymbolicLink() === true) throw new Error(`${path} is a link; remove it`);
    if (found === undefined) await missing?.(path);
  }
}
