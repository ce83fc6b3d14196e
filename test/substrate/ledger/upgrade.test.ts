import { existsSync, readFileSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { checkLedger } from '../../../src/cli/check-ledger.ts';
import { readHistory } from '../../../src/read-model/read-run.ts';
import { lockWorkspace, openLedger } from '../../../src/substrate/ledger/index.ts';
import { storedLedger } from '../../support/stored-ledger.ts';
import { startProgram } from './programs.ts';
import { squadError } from './support.ts';

const clock = { now: () => 5 };

test('T19 a ledger that squad 0.1.0 left is brought up to date after a backup, and tells the same run', () => {
  const { directory, path } = storedLedger();
  expect(checkLedger(path)).toMatchObject({ ok: true, outdated: true, schemaVersion: 1, problems: [] });
  const lock = lockWorkspace(directory, { pid: process.pid, host: 'here', since: 0 });
  const ledger = openLedger(directory, { clock, lock, ballastBytes: 4096 });
  const { definition, board, attempts } = readHistory(ledger, undefined, null);
  expect([definition.name, [...board.tasks.keys()]]).toEqual([
    'fan-out',
    expect.arrayContaining(['plan', 'left', 'right', 'both']),
  ]);
  expect(attempts.filter(({ settlement }) => settlement !== undefined)).toHaveLength(6);
  ledger.close();
  lock.release();
  expect(checkLedger(path)).toMatchObject({
    ok: true,
    outdated: false,
    schemaVersion: 6,
    problems: [],
    violations: [],
  });
  expect(checkLedger(`${path}.backup-v1`)).toMatchObject({ ok: true, schemaVersion: 1 });
});

test.each([
  ['migration.after-backup', 1],
  ['ledger.before-commit', 1],
  ['ledger.after-commit', 2],
  ['ledger.after-commit:2', 3],
  ['ledger.after-commit:3', 4],
  ['ledger.after-commit:4', 5],
  ['ledger.after-commit:5', 6],
])('T19 its upgrade killed at %s leaves schema %i, whole, and the next engine goes on', async (point, version) => {
  const { directory, path } = storedLedger();
  const before = checkLedger(path);
  const killed = startProgram('crasher', [directory, 'migrate', `${point}=kill`]);
  expect(await killed.ended()).toMatchObject({ signal: 'SIGKILL' });
  expect(checkLedger(path)).toMatchObject({ ok: true, schemaVersion: version, lastSeq: before.lastSeq, problems: [] });
  if (version === 1) {
    expect(squadError(() => openLedger(directory, { clock, readOnly: true }))).toMatchObject({
      code: 'storage-refused',
      next: expect.stringContaining('`squad resume`') as string,
    });
  }
  openLedger(directory, { clock, ballastBytes: 4096 }).close();
  expect(checkLedger(path)).toMatchObject({ ok: true, schemaVersion: 6, lastSeq: before.lastSeq, problems: [] });
  expect(checkLedger(`${path}.backup-v1`)).toMatchObject({ ok: true, schemaVersion: 1, lastSeq: before.lastSeq });
});

test('T19 a newer schema is refused with exit code 78, and not one byte or time of the file changes', () => {
  const { directory, path } = storedLedger();
  const db = new Database(path);
  db.pragma('user_version = 99');
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  const [bytes, { mtimeMs }] = [readFileSync(path), statSync(path)];
  for (const readOnly of [true, false]) {
    expect(squadError(() => openLedger(directory, { clock, readOnly, ballastBytes: 4096 }))).toMatchObject({
      code: 'schema-newer',
      exitCode: 78,
    });
  }
  expect(readFileSync(path)).toEqual(bytes);
  expect(statSync(path).mtimeMs).toBe(mtimeMs);
  expect(existsSync(`${path}-wal`)).toBe(false);
});
