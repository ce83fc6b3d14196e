import { realpathSync } from 'node:fs';
import { isAbsolute } from 'node:path';

/** Where these absolute paths lead, each place once. Leaves out what is relative and what is not there. */
export async function realPaths(paths: readonly string[]): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const path of paths) {
    try {
      if (isAbsolute(path)) found.add(realpathSync.native(path));
    } catch {
      // Nothing is there.
    }
  }
  return [...found];
}
