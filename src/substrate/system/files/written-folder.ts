import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathProblem } from '../../../text/path-problem.ts';
import { confine } from './confine.ts';
import { readPlain } from './read-plain.ts';
import { refuseLinks } from './refuse-links.ts';
import { writeWhole } from './run-files.ts';

/** A folder of files for people, which squad writes and never reads back. */
export interface WrittenFolder {
  /** Writes the file unless it is there as it should be. Leaves out what cannot be a path in the folder. */
  put(path: string, content: string | Uint8Array): Promise<void>;
  /** Removes the other files of a folder in it: what they say is no longer so. */
  keepOnly(name: string, files: readonly string[]): Promise<void>;
}

export function writtenFolder(root: string): WrittenFolder {
  return {
    put: async (path, content) => {
      if (pathProblem(path) !== undefined) return;
      const target = confine(root, path);
      await refuseLinks(root, dirname(path));
      const found = await readPlain(target, 'latin1').catch(() => undefined);
      if (found !== Buffer.from(content).toString('latin1')) await writeWhole(target, content);
    },
    keepOnly: async (name, files) => {
      await refuseLinks(root, name);
      const folder = join(root, name);
      const found = await readdir(folder, { withFileTypes: true }).catch(() => []);
      for (const one of found) if (!one.isDirectory() && !files.includes(one.name)) await rm(join(folder, one.name));
    },
  };
}
