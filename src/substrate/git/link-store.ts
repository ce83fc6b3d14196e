import { link, mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deleteFolder } from '../system/files/remove-tree.ts';
import { storesBehind } from '../system/files/object-stores.ts';

/** More would hold up the start of a run. git itself packs at 6,700 loose objects. */
const MOST_FILES = 20_000;
/** A git of the user's may pack objects meanwhile. */
const TRIES = 2;

/**
 * Makes an object store of hard links to the objects of another one, which does not move with it. It is complete or absent: there
 * is none on another disk, where the kernel forbids it, and of a store with very many files. false: there is none.
 */
export async function linkStore(from: string, to: string): Promise<boolean> {
  const fresh = `${to}.new`;
  for (let tries = 0; tries < TRIES; tries += 1) {
    try {
      await deleteFolder(fresh);
      await linkObjects(from, fresh);
      const [, ...behind] = await storesBehind(from);
      await writeFile(join(fresh, 'info', 'alternates'), behind.map((store) => `${store}\n`).join(''));
      await rename(fresh, to);
      return true;
    } catch {
      // The store itself is as good, as long as it stays where it is.
    }
  }
  await deleteFolder(fresh);
  return false;
}

/** Packs last: what is packed meanwhile is found there. */
async function linkObjects(from: string, to: string): Promise<void> {
  const loose = (await readdir(from)).filter((name) => /^[0-9a-f]{2}$/.test(name));
  for (const name of ['', 'info', 'pack', ...loose]) await mkdir(join(to, name), { recursive: true, mode: 0o700 });
  let count = 0;
  for (const folder of [...loose, 'pack']) {
    const names = (await readdir(join(from, folder))).filter((name) => !/^tmp_|^\.|\.(?:lock|keep)$/.test(name));
    count += names.length;
    if (count > MOST_FILES) throw new Error('too many files');
    await Promise.all(names.map(async (name) => link(join(from, folder, name), join(to, folder, name))));
  }
}
