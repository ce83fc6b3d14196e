import { realpath } from 'node:fs/promises';
import { isAbsolute } from 'node:path';

/** Where these absolute paths lead, each place once. Leaves out what is relative and what is not there. */
export async function realPaths(paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    paths.filter((path) => isAbsolute(path)).map((path) => realpath(path).catch(() => '')),
  );
  return [...new Set(found.filter((path) => path !== ''))];
}
