import { fstatSync, linkSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { LedgerPlace } from '../ports/ledger.ts';
import { complete } from './backup.ts';
import type { Db } from './open-db.ts';

/** The file that a database was opened as, by what its path names now. SQLite itself does not notice that it was deleted. */
export function placeOf(db: Db, opened: string): LedgerPlace {
  const now = identityAt(db.name);
  if (now === opened) return 'there';
  if (now !== undefined) return 'replaced';
  return hasNoName(opened) ? 'deleted' : 'moved';
}

/** `device:inode`; undefined: nothing is there. */
export function identityAt(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev}:${found.ino}`;
}

/** Whether this process has the file open and no folder names it any more. */
function hasNoName(identity: string): boolean {
  for (const name of readdirSync('/proc/self/fd')) {
    try {
      const { dev, ino, nlink } = fstatSync(Number(name), { bigint: true });
      if (`${dev}:${ino}` === identity) return nlink === 0n;
    } catch {
      // The descriptor of this listing itself is closed by now.
    }
  }
  return false;
}

/** Writes all that the database holds to its path again. Returns the path of the new file. */
export function writeBack(db: Db): string {
  const path = db.name;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = `${path}.${process.pid}.back`;
  rmSync(fresh, { force: true });
  db.prepare('VACUUM INTO ?').run(fresh);
  try {
    complete(fresh, path);
    return path;
  } catch (error) {
    // Another one is there by now. It may hold another engine's work.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const aside = `${path}.${Date.now()}.lost`;
    linkSync(fresh, aside);
    return aside;
  } finally {
    rmSync(fresh, { force: true });
  }
}
