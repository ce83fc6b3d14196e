import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { appendEvent } from '../../../src/substrate/ledger/events.ts';
import { closeDb, openLedger, write } from '../../../src/substrate/ledger/index.ts';
import { openLedgerFile } from '../../../src/substrate/ledger/ledger-file.ts';
import { createStore } from '../../../src/substrate/ledger/store.ts';
import { openBench, squadError, temporaryFolder, violations } from './support.ts';

const clock = { now: () => 5 };

test('the ballast is really on the disk', () => {
  const directory = join(temporaryFolder(), '.squad');
  openLedger(directory, { clock }).close();
  const { size, blocks, mode } = statSync(join(directory, 'ballast'));
  expect(size).toBe(8 * 1024 * 1024);
  expect(blocks * 512).toBeGreaterThanOrEqual(size);
  expect(mode & 0o077).toBe(0);
});

test('a full disk is said by name, undoes the step, gives the ballast back, and the pause can be written', () => {
  const { path } = openBench();
  const ballast = join(dirname(path), 'ballast');
  const db = openLedgerFile(path, { readOnly: false });
  // SQLite's own limit on the pages of a file answers exactly as a full disk does.
  const pages = Number(db.pragma('page_count', { simple: true }));
  db.pragma(`max_page_count = ${pages}`);
  const store = createStore(db, clock);
  const insert = (size: number): unknown =>
    write(db, () => appendEvent(store, { stream: 'r', type: 'noted', data: 'x'.repeat(size) }));
  expect(squadError(() => insert(100_000))).toMatchObject({ code: 'storage-full', exitCode: 75 });
  expect(statSync(ballast).size).toBe(0);
  db.pragma(`max_page_count = ${pages + 2}`);
  insert(10);
  closeDb(db);
  expect(violations(path)).toEqual([]);
  openLedger(dirname(path), { clock, ballastBytes: 4096 }).close();
  expect(statSync(ballast).size).toBe(4096);
});

test('a workspace that was begun on a full disk is hidden from git as soon as there is room', () => {
  const directory = join(temporaryFolder(), '.squad');
  mkdirSync(directory);
  // A file that is made and cannot be written stays behind empty.
  writeFileSync(join(directory, '.gitignore'), '');
  openLedger(directory, { clock, ballastBytes: 4096 }).close();
  expect(readFileSync(join(directory, '.gitignore'), 'utf8')).toBe('*\n');
});
