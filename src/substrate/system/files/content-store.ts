import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { contentHash, type Content, type ContentFile } from '../../../model/content.ts';
import { storageError } from '../../../model/storage-error.ts';
import { makeSynced, syncFile, syncNames } from './sync.ts';

/** Keeps contents in a folder, each under its hash, complete or not at all. What is there already is not written again. */
export async function storeContents(folder: string, contents: readonly Content[]): Promise<void> {
  for (const content of contents) {
    const path = join(folder, content.hash);
    if (await isStored(folder, content.hash)) continue;
    const fresh = join(folder, `.new-${content.hash}`);
    try {
      await rm(fresh, { recursive: true, force: true });
      makeSynced(fresh);
      for (const { path: name, bytes, executable } of content.files) {
        const file = join(fresh, name);
        await mkdir(dirname(file), { recursive: true, mode: 0o700 });
        await writeFile(file, bytes, { mode: executable ? 0o500 : 0o400, flush: true });
      }
      await syncNames(fresh);
      await rm(path, { recursive: true, force: true });
      await rename(fresh, path);
      syncFile(folder);
    } catch (error) {
      throw storageError(path, error);
    }
  }
}

/** The content is there, and is what its hash says. */
export async function isStored(folder: string, hash: string): Promise<boolean> {
  try {
    return contentHash(await readAll(join(folder, hash), '')) === hash;
  } catch {
    // Missing or unreadable, which is the same for callers.
    return false;
  }
}

async function readAll(root: string, below: string): Promise<ContentFile[]> {
  const files: ContentFile[] = [];
  for (const { name } of await readdir(join(root, below), { withFileTypes: true })) {
    const path = below === '' ? name : `${below}/${name}`;
    const found = await lstat(join(root, path));
    if (found.isDirectory()) files.push(...(await readAll(root, path)));
    else if (found.isFile()) {
      files.push({ path, bytes: await readFile(join(root, path)), executable: (found.mode & 0o100) !== 0 });
    } else throw new Error(`${path} is not a regular file`);
  }
  return files;
}
