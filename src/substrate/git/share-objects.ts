import { constants } from 'node:fs';
import { copyFile, link, mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../model/storage-error.ts';

/**
 * Gives the objects of one store to another, as git itself moves them out of quarantine: by whole files, each index after its
 * pack. No git runs there. `sent`: names that were given before; they are skipped.
 */
export async function shareObjects(from: string, to: string, sent: Set<string>): Promise<void> {
  for (const folder of await readdir(from)) {
    if (!/^(?:[0-9a-f]{2}|pack)$/.test(folder)) continue;
    const names = (await readdir(join(from, folder))).filter(
      (name) => isObject(name) && !sent.has(`${folder}/${name}`),
    );
    if (names.length === 0) continue;
    await mkdir(join(to, folder), { recursive: true });
    for (const name of names.toSorted((a, b) => Number(a.endsWith('.idx')) - Number(b.endsWith('.idx')))) {
      await give(join(from, folder, name), join(to, folder, name));
      sent.add(`${folder}/${name}`);
    }
  }
}

/** Not the temporary files of a git that was killed. */
function isObject(name: string): boolean {
  return /^(?:[0-9a-f]{38}|[0-9a-f]{62}|pack-[0-9a-f]+\.(?:pack|rev|idx))$/.test(name);
}

/** Their names follow from their content, so a file that is there already is the same. */
async function give(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return;
    // The state folder is on another disk.
    await copyFile(from, `${to}.new`, constants.COPYFILE_FICLONE);
    await rename(`${to}.new`, to);
  }
}
