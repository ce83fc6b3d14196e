import { describe, expect, it } from 'vitest';
import { createPageDiff } from '../../../src/squad/pool/page-diff.ts';

const SIZE = 512;

/** A file with the header of an SQLite file, and a page for each letter. */
function fileOf(letters: string): Buffer {
  const pages = letters.split('').map((letter) => Buffer.alloc(SIZE, letter));
  pages[0]?.writeUInt16BE(SIZE, 16);
  return Buffer.concat(pages);
}

const numbersOf = (changed: ReadonlyMap<number, Uint8Array>) => [...changed.keys()].toSorted((a, b) => a - b);

/** What a store would have, from what it was given. */
function apply(
  pages: Map<number, Uint8Array>,
  { changed, count }: ReturnType<ReturnType<typeof createPageDiff>['changed']>,
) {
  for (const [number, bytes] of changed) pages.set(number, bytes);
  for (const number of pages.keys()) if (number >= count) pages.delete(number);
}

const bytesOf = (pages: ReadonlyMap<number, Uint8Array>) =>
  Buffer.concat([...pages].toSorted(([a], [b]) => a - b).map(([, bytes]) => bytes));

describe('the pages that a pool lacks', () => {
  it('are all of the first file, and then those that changed', () => {
    const diff = createPageDiff();
    expect(diff.changed(fileOf('hab'))).toMatchObject({ pageBytes: SIZE, count: 3 });
    diff.stored();
    expect(numbersOf(diff.changed(fileOf('hxbc')).changed)).toEqual([1, 3]);
  });

  it('are none for what it has', () => {
    const file = fileOf('hab');
    const diff = createPageDiff([0, 1, 2].map((page) => file.subarray(page * SIZE, (page + 1) * SIZE)));
    expect(diff.changed(file).changed.size).toBe(0);
  });

  it('give the file again, whichever stores failed before or after they came through', () => {
    const letters = ['hab', 'hxb', 'hab', 'ha', 'haz', 'h', 'habcd', 'hxycd', 'habcd'];
    // Each store fails or not, and one that failed has come through or not.
    for (let ways = 0; ways < 3 ** letters.length; ways += 7) {
      const diff = createPageDiff();
      const there = new Map<number, Uint8Array>();
      for (const [index, text] of letters.entries()) {
        const file = fileOf(text);
        const way = Math.floor(ways / 3 ** index) % 3;
        const given = diff.changed(file);
        if (way !== 2) apply(there, given);
        if (way !== 0) continue;
        diff.stored();
        expect(bytesOf(there).equals(file), `${ways} at ${index}`).toBe(true);
      }
    }
  });

  it('are refused for what is no SQLite file', () => {
    expect(() => createPageDiff().changed(Buffer.from('short'))).toThrow('no whole SQLite file');
    expect(() => createPageDiff().changed(fileOf('ab').subarray(0, SIZE + 9))).toThrow('no whole SQLite file');
  });
});
