import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { storageError } from '../../../model/storage-error.ts';
import { makeOwnFolder } from './own-folder.ts';

/**
 * Where squad keeps what it needs for a moment: below its state folder, which only this person reads. The folder for temporary
 * files that a machine names may be gone, full or noexec, and nothing that squad has been paid for may depend on it.
 */
export function scratchRoot(stateDirectory: string): string {
  return join(stateDirectory, 'git-scratch');
}

/** For adapters, which know only the pid of their process (see `scratchLabel`). */
const PLAIN_LABEL = `of_${process.pid}_0_0_0_0`;

/**
 * A new and empty folder, with its owner in its name. Its owner removes it; `squad clean` removes one that a killed process has
 * left. `label`: of `scratchLabel`.
 */
export async function makeScratch(stateDirectory: string, label = PLAIN_LABEL): Promise<string> {
  const root = scratchRoot(stateDirectory);
  makeOwnFolder(root);
  try {
    return await mkdtemp(join(root, `squad-scratch-${label}-`));
  } catch (error) {
    throw storageError(root, error);
  }
}

/** The folder goes when the work has ended, however it ends. */
export async function withScratch<T>(
  stateDirectory: string,
  work: (folder: string) => Promise<T>,
  label?: string,
): Promise<T> {
  const folder = await makeScratch(stateDirectory, label);
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
