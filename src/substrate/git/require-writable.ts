import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { wrongEnvironment, type SquadError } from '../../model/errors.ts';
import { errorCode } from '../../model/storage-error.ts';
import { shellWord } from '../../text/shell-word.ts';
import { foreignOwner } from '../system/files/owner.ts';
import { lockedError } from './git-locks.ts';
import { removeLeftLocks } from './ref-moves.ts';

/** Below the common git directory: where a run adds objects and moves refs. Those that are not there yet are made in the others. */
const WRITTEN = ['.', 'objects', 'objects/pack', 'refs', 'refs/heads', 'refs/heads/squad', 'refs/squad'];

/**
 * Throws unless this user can write what a run writes to the repository, so that a run is refused before it is paid for. Asks the
 * system, which knows modes, access lists and read-only mounts.
 */
export async function requireWritable(
  { root, commonDirectory }: { readonly root: string; readonly commonDirectory: string },
  stateDirectory: string,
): Promise<void> {
  for (const name of [...WRITTEN, ...objectFolders(commonDirectory)]) {
    const path = join(commonDirectory, name);
    try {
      accessSync(path, constants.W_OK | constants.X_OK);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw refused(path, root, errorCode(error) ?? 'it is not known why');
    }
  }
  await removeLeftLocks({ stateDirectory, commonDirectory });
  // git needs it to delete a ref, which a run does at its end.
  const lock = join(commonDirectory, 'packed-refs.lock');
  for (let waited = 0; existsSync(lock); waited += LOOK_MS) {
    if (waited >= MOST_WAIT_MS) throw lockedError(lock);
    await sleep(LOOK_MS);
  }
}

/** A git that deletes a ref, such as a tidying's, has its lock for some ms. */
const MOST_WAIT_MS = 1000;
const LOOK_MS = 20;

function objectFolders(commonDirectory: string): readonly string[] {
  try {
    const names = readdirSync(join(commonDirectory, 'objects'));
    return names.filter((name) => /^[0-9a-f]{2}$/.test(name)).map((name) => `objects/${name}`);
  } catch {
    // The folder itself is named.
    return [];
  }
}

function refused(path: string, root: string, code: string): SquadError {
  const clone = `work in a clone of your own: \`git clone ${shellWord(root)} work\``;
  if (code === 'EROFS') {
    const next = `Mount it for writing, or ${clone}.`;
    return wrongEnvironment(`${path} is on a file system that can only be read, and a run writes its work there`, next);
  }
  const owner = foreignOwner(path);
  const whose = owner === undefined ? '' : `; it belongs to ${owner}`;
  const next = `Let this user write there, or ${clone}.`;
  return wrongEnvironment(`${path} cannot be written (${code}), and a run writes its work there${whose}`, next);
}
