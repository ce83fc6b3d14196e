import { constants, copyFileSync, existsSync, linkSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCode } from '../../model/storage-error.ts';
import { makeSynced, syncFile } from '../files/sync.ts';
import { bodyFiles } from './mail/bodies.ts';
import type { Db } from './open-db.ts';
import { createStore } from './store.ts';

/** Of a run: what its agents are equipped with, and the hashes of what squad wrote into a session's folder. */
const OF_A_RUN = ['armory', 'folder.jsonl'];

/**
 * Copies what a resume reads besides the ledger and the repository: long bodies of messages, and the files of its runs that the
 * ledger cannot make again. `from`: the folder of the ledger. Makes no folder if there is none of it.
 */
export function backUpFiles(db: Db, from: string, to: string): void {
  const folders = new Set<string>();
  for (const path of namedFiles(db, from)) {
    const target = join(to, path);
    makeSynced(dirname(target));
    give(join(from, path), target);
    folders.add(dirname(target));
  }
  for (const folder of folders) syncFile(folder);
}

/** By their paths below the folder of the ledger. One that is gone already is not there to be copied. */
function namedFiles(db: Db, from: string): string[] {
  const store = createStore(db, { now: () => 0 });
  const runs = store.all<{ id: string }>('SELECT id FROM run').map(({ id }) => join('runs', id));
  const ofRuns = runs.flatMap((run) => OF_A_RUN.flatMap((name) => filesBelow(from, join(run, name))));
  return [...bodyFiles(store), ...ofRuns].filter((path) => existsSync(join(from, path)));
}

function filesBelow(root: string, path: string): string[] {
  try {
    const found = readdirSync(join(root, path), { recursive: true, withFileTypes: true });
    return found.flatMap((one) => (one.isFile() ? [join(one.parentPath, one.name).slice(root.length + 1)] : []));
  } catch (error) {
    return errorCode(error) === 'ENOTDIR' ? [path] : [];
  }
}

/** By a link where that is possible: nothing changes such a file in its place, and copies of each run would add up. */
function give(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return;
    copyFileSync(source, target, constants.COPYFILE_EXCL);
    syncFile(target);
  }
}
