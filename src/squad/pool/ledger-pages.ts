import { badInput } from '../../model/errors.ts';
import type { LedgerPages } from '../../substrate/ports/pool.ts';

const SIZE_AT = 16;
/** What the size field says for 65,536, which it cannot hold. */
const LARGEST = 1;

/** The pages of a SQLite file that differ from an earlier one of the same ledger. `before` absent: all of them. */
export function changedPages(file: Uint8Array, before: Uint8Array | undefined): LedgerPages {
  const pageBytes = pageBytesOf(file);
  const count = file.length / pageBytes;
  if (!Number.isInteger(count)) throw badInput('the copy of the ledger has no whole number of pages');
  const isComparable = before !== undefined && pageBytesOf(before) === pageBytes;
  const changed = new Map<number, Uint8Array>();
  for (let number = 0; number < count; number += 1) {
    const page = file.subarray(number * pageBytes, (number + 1) * pageBytes);
    const old = isComparable ? before.subarray(number * pageBytes, (number + 1) * pageBytes) : undefined;
    if (old === undefined || Buffer.compare(page, old) !== 0) changed.set(number, page);
  }
  return { pageBytes, count, changed };
}

function pageBytesOf(file: Uint8Array): number {
  const size = ((file[SIZE_AT] ?? 0) << 8) | (file[SIZE_AT + 1] ?? 0);
  const bytes = size === LARGEST ? 65_536 : size;
  if (bytes < 512 || !Number.isInteger(Math.log2(bytes))) throw badInput('the copy of the ledger is no SQLite file');
  return bytes;
}
