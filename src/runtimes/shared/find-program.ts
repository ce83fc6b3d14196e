import { constants } from 'node:fs';
import { access, lstat, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

/** Absolute path of a program on a PATH. Relative entries are passed over: they would depend on where squad stands. */
export async function findProgram(path: string | undefined, name: string): Promise<string | undefined> {
  for (const folder of (path ?? '').split(delimiter)) {
    if (isAbsolute(folder) && (await isExecutable(join(folder, name)))) return join(folder, name);
  }
  return undefined;
}

/** What an interpreter parses the arguments for anew (bar S18): the program that such a file starts is to be named itself. */
const BATCH_FILE = /\.(?:cmd|bat|ps1)[. ]*$/i;

/** A regular file (or a link to one) that may be run, and is run as it is. */
export async function isExecutable(path: string): Promise<boolean> {
  if (BATCH_FILE.test(path)) return false;
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    // Not there, or not ours to run.
    return false;
  }
}

/** Those of the paths that are there, dangling links included. */
export async function existing(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map(async (path) => ((await exists(path)) ? path : undefined)));
  return found.filter((path) => path !== undefined);
}

export async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

/** Versions of three numbers. */
export function isOlder(version: string, floor: string): boolean {
  const wanted = floor.split('.').map(Number);
  for (const [index, part] of version.split('.').map(Number).entries()) {
    const least = wanted[index] ?? 0;
    if (part !== least) return part < least;
  }
  return false;
}
