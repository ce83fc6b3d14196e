import { realpathSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { orNothing } from './odd-entry.ts';

/** Where these absolute paths lead, each place once. Leaves out what is relative and what is not there. */
export async function realPaths(paths: readonly string[]): Promise<readonly string[]> {
  const found = paths.filter(isAbsolute).flatMap((path) => orNothing(() => realpathSync.native(path)) ?? []);
  return [...new Set(found)];
}
