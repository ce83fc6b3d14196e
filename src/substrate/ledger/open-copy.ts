import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { closeDb, isOpenHere, openDb, type Db, type OpenOptions } from './open-db.ts';

/** In memory: the disk of temporary files may be the full one. A machine without it gets the cause instead. */
const MEMORY = '/dev/shm';

/** Many times what a file system needs to give a later writing another time. */
const QUIET_MS = 200;

/**
 * Opens a copy of a database whose own disk refuses what SQLite needs to read it. The copy has the name of the original and no file.
 * undefined: it cannot be copied, or something wrote to it meanwhile, so that the copy could be of two moments.
 */
export function openCopy(path: string, options: OpenOptions): Db | undefined {
  if (isOpenHere(path)) return undefined;
  const folder = folderIn(MEMORY);
  if (folder === undefined) return undefined;
  try {
    const copy = join(folder, 'copy.db');
    const before = stateOf(path);
    for (const end of ['', '-wal']) if (existsSync(path + end)) copyFileSync(path + end, copy + end);
    if (before === undefined || stateOf(path) !== before) return undefined;
    return opened(copy, path, options);
  } catch {
    // The caller says why the original cannot be read.
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** With the log in it, so that SQLite needs no file beside it once it is open. */
function opened(copy: string, path: string, options: OpenOptions): Db {
  closeDb(openDb(copy, { ...options, traces: [], readOnly: false, journal: 'rollback' }));
  const db = openDb(copy, { ...options, traces: [] });
  // The name of a database cannot be changed; what stands before it has that of the original.
  return Object.create(db, { name: { value: path }, close: { value: () => closeDb(db) } }) as Db;
}

function folderIn(place: string): string | undefined {
  try {
    return mkdtempSync(join(place, 'squad-copy-'));
  } catch {
    return undefined;
  }
}

/** Tells every writing apart. undefined: something writes, or did a moment ago. */
function stateOf(path: string): string | undefined {
  const files = ['', '-wal'].flatMap((end) => statSync(path + end, { bigint: true, throwIfNoEntry: false }) ?? []);
  // The look that failed may have left an empty log.
  const found = files.filter(({ size }) => size > 0n);
  if (found.some(({ mtimeMs }) => Date.now() - Number(mtimeMs) < QUIET_MS)) return undefined;
  return found.map(({ ino, size, mtimeNs }) => `${ino} ${size} ${mtimeNs}`).join();
}
