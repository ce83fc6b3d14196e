import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { closeDb, isOpenHere, openDb, type Db, type OpenOptions } from './open-db.ts';

/** In memory: the disk of temporary files may be the full one. A machine without it gets the cause instead. */
const MEMORY = '/dev/shm';

/** The database first: what moves from the log to it meanwhile is then seen as a change. */
const PARTS = ['', '-wal'];

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
    for (const end of PARTS) if (existsSync(path + end)) copyFileSync(path + end, copy + end);
    if (!PARTS.every((end) => isSame(path + end, copy + end))) return undefined;
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

/**
 * Each file was the same before and after the moment at which both were copied. Times of files cannot say so: a clock that is set back
 * makes what was written long ago new, and what is new old. The look that failed may have left an empty log.
 */
function isSame(original: string, copy: string): boolean {
  return contentOf(original).equals(contentOf(copy));
}

function contentOf(path: string): Buffer {
  return existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
}
