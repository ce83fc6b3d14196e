import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorText } from '../../../model/errors.ts';
import type { MadeFolder } from '../../../model/folder.ts';
import { errorCode, isStorageError, storageError } from '../../../model/storage-error.ts';
import { failpoint } from '../failpoint.ts';
import { readPlain } from './read-plain.ts';
import { confine } from './confine.ts';
import { realPath } from './real-path.ts';
import { deleteFolder } from './remove-tree.ts';
import { sharedFolder } from './shared-folder.ts';
import { syncFile, syncNames } from './sync.ts';

/**
 * Makes a folder once, whichever engine was killed meanwhile; a second call finds it made. `key`: of the run. Returns why it cannot be
 * made; undefined: it is there. Throws `storage-full` or `storage-refused` if the machine refuses it, after which the call can be repeated.
 */
export async function makeFolder(made: MadeFolder, key: string): Promise<string | undefined> {
  try {
    if (realPath(made.folder) !== made.folder)
      return `${made.shown} now leads to another folder than when the run began: check the links in its path`;
    return made.isThere ? await addFiles(made) : await makeWhole(made, key);
  } catch (error) {
    const known = storageError(made.folder, error);
    if (isStorageError(known)) throw known;
    return `${made.shown} could not be made: ${errorText(error)}`;
  }
}

/** It appears by a rename, which another folder with something in it refuses. */
async function makeWhole(made: MadeFolder, key: string): Promise<string | undefined> {
  const { folder, shown } = made;
  // Without the folder's own name, which may be as long as a name can be.
  const fresh = join(dirname(folder), `.new-${key}`);
  await deleteFolder(fresh);
  if (await isMade(made)) return undefined;
  try {
    await fill(fresh, made);
    await syncNames(fresh);
    failpoint('folder.before-rename');
    if (!(await takesPlace(fresh, folder))) return `${shown} is there already, and squad replaces no folder`;
  } finally {
    await deleteFolder(fresh);
  }
  failpoint('folder.renamed');
  return undefined;
}

/** Whether the rename finds no other folder with something in it. */
async function takesPlace(fresh: string, folder: string): Promise<boolean> {
  try {
    await rename(fresh, folder);
    syncFile(dirname(folder));
    return true;
  } catch (error) {
    if (TAKEN.has(errorCode(error) ?? '')) return false;
    throw error;
  }
}

const TAKEN: ReadonlySet<string> = new Set(['EEXIST', 'ENOTEMPTY', 'ENOTDIR']);

async function isMade({ folder, files, proof }: MadeFolder): Promise<boolean> {
  const text = files.find(({ path }) => path === proof)?.text;
  return text !== undefined && (await readPlain(confine(folder, proof)).catch(() => undefined)) === text;
}

async function fill(root: string, { files, folders }: MadeFolder): Promise<void> {
  await mkdir(root, { recursive: true });
  for (const name of folders) await mkdir(confine(root, name), { recursive: true });
  for (const { path, text } of files) {
    const target = confine(root, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text, { flag: 'wx', flush: true });
  }
}

/** Adds what is missing to a folder. What is there and is another text is kept under another name. */
async function addFiles({ folder, files, folders }: MadeFolder): Promise<undefined> {
  const shared = sharedFolder(folder);
  for (const name of folders) await mkdir(confine(folder, name), { recursive: true });
  for (const { path, text, isEmpty } of files) {
    if (isEmpty === true && shared.stamp(path) !== undefined) continue;
    await shared.put({ path, text, stamp: undefined, isOurs: () => false });
  }
  await syncNames(folder);
  return undefined;
}
