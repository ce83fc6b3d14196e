import { basename, dirname } from 'node:path';
import { attachmentsFolder } from '../../substrate/system/files/run-files.ts';
import { realPaths } from '../../substrate/system/files/real-paths.ts';

/** The files that came with requests of the turn's repository, if there are any. `directory`: `turns/<attempt>` below its state. */
export async function attachedFiles(directory: string): Promise<readonly string[]> {
  const turns = dirname(directory);
  if (basename(turns) !== 'turns') return [];
  const folder = attachmentsFolder(dirname(turns));
  return (await realPaths([folder])).length === 0 ? [] : [folder];
}
