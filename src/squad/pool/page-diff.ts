import { badInput } from '../../model/errors.ts';
import { sha256Of } from '../../model/sha256.ts';
import type { LedgerPages } from '../../substrate/ports/pool.ts';

/** Which pages of a ledger's file the pool does not have yet. */
export interface PageDiff {
  /** Those of the file that differ from what is stored, or may. Until `stored`, later calls name them too. */
  changed(file: Buffer): LedgerPages;
  /** The pool has the pages of the last `changed`. */
  stored(): void;
}

/** `before`: the pages that the pool has; absent: none. */
export function createPageDiff(before: readonly Uint8Array[] = []): PageDiff {
  let known = before.map((page) => sha256Of(page));
  let last: string[] = known;
  /** A store that failed may have come through all the same: what it wrote is not known. */
  const doubtful = new Set<number>();
  return {
    changed: (file) => {
      const pages = pagesOf(file);
      last = pages.map((page) => sha256Of(page));
      const changed = new Map<number, Uint8Array>();
      for (const [number, page] of pages.entries()) {
        if (last[number] !== known[number] || doubtful.has(number)) changed.set(number, page);
      }
      for (const number of changed.keys()) doubtful.add(number);
      // One that has become shorter may lose pages there, which come back if it grows.
      for (let number = pages.length; number < known.length; number += 1) doubtful.add(number);
      return { pageBytes: pageSize(file), count: pages.length, changed };
    },
    stored: () => {
      known = last;
      doubtful.clear();
    },
  };
}

function pagesOf(file: Buffer): Buffer[] {
  const size = pageSize(file);
  return Array.from({ length: file.length / size }, (_, number) => file.subarray(number * size, (number + 1) * size));
}

const AT = 16;
const LEAST = 512;

/** As the header of an SQLite file has it. Throws `bad-input` for what is no such file. */
function pageSize(file: Buffer): number {
  const read = file.length > AT + 2 ? file.readUInt16BE(AT) : 0;
  const size = read === 1 ? 65_536 : read;
  if (size >= LEAST && file.length % size === 0) return size;
  throw badInput('the copy of the ledger is no whole SQLite file', 'Look at it with `squad db check`.');
}
