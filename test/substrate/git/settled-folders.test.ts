import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync, type BigIntStats } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { createSettledFolders, hasExactTimes } from '../../../src/substrate/git/settled-folders.ts';

const place = mkdtempSync(join(tmpdir(), 'squad-settled-'));
afterEach(() => rmSync(place, { recursive: true, force: true }));

const stateOf = (path: string): BigIntStats => statSync(path, { bigint: true });
/** As it would be if its last change were so long ago. */
const aged = (state: BigIntStats, ms: number): BigIntStats => ({
  ...state,
  ctimeNs: BigInt(Date.now() - ms) * 1_000_000n,
});

it('a folder is settled while the system says the same of it, and only if its last change was over when it was seen', () => {
  const folder = join(place, 'folder');
  mkdirSync(folder, { recursive: true });
  const settled = createSettledFolders();
  settled.remember('new', stateOf(folder), []);
  expect(settled.foldersIn('new', stateOf(folder))).toBeUndefined();
  settled.remember('future', aged(stateOf(folder), -5000), []);
  expect(settled.foldersIn('future', aged(stateOf(folder), -5000))).toBeUndefined();
  const old = aged(stateOf(folder), 5000);
  settled.remember('old', old, ['old/inside']);
  expect(settled.foldersIn('old', old)).toEqual(['old/inside']);
  expect(settled.foldersIn('old', undefined)).toBeUndefined();
  expect(settled.foldersIn('another', old)).toBeUndefined();
  for (const field of ['dev', 'ino', 'mode', 'mtimeNs', 'ctimeNs'] as const)
    expect(settled.foldersIn('old', { ...old, [field]: old[field] + 1n }), field).toBeUndefined();
});

it.skipIf(!hasExactTimes(tmpdir()))(
  'where a folder’s times are exact, every change of the names in it shows, also after its times were set back',
  () => {
    mkdirSync(place, { recursive: true });
    const before = stateOf(place);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    writeFileSync(join(place, 'new'), '');
    utimesSync(place, Number(before.atimeMs) / 1000, Number(before.mtimeMs) / 1000);
    expect(stateOf(place).ctimeNs).not.toBe(before.ctimeNs);
  },
);

it('no other system’s times are trusted', () => {
  mkdirSync(place, { recursive: true });
  expect(hasExactTimes(place, 'darwin')).toBe(false);
  expect(hasExactTimes('/proc')).toBe(false);
});
