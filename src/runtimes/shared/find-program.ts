import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { exists } from '../../substrate/system/files/exists.ts';

/** Absolute path of a program on a PATH. Skips relative entries: they depend on the folder in which squad runs. */
export async function findProgram(path: string | undefined, name: string): Promise<string | undefined> {
  const folders = (path ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  return firstExecutable(folders.map((folder) => join(folder, name)));
}

export async function firstExecutable(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) if (await isExecutable(path)) return path;
  return undefined;
}

/** Files whose arguments an interpreter parses again (bar S18). Settings must name the program that such a file starts. */
const BATCH_FILE = /\.(?:cmd|bat|ps1)[. ]*$/i;

/** A regular file, or a link to one, that this user may execute and that no interpreter reads. */
export async function isExecutable(path: string): Promise<boolean> {
  if (BATCH_FILE.test(path)) return false;
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Missing, or not executable for this user.
    return false;
  }
}

/** The paths that exist, dangling links included. */
export async function existing(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map(exists));
  return paths.filter((_, index) => found[index]);
}

/** Compares versions of three numbers. */
export function isOlder(version: string, floor: string): boolean {
  return version.localeCompare(floor, 'en', { numeric: true }) < 0;
}
