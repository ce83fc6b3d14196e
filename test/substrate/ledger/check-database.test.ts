import { readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { checkDatabase, teachRowDigest } from '../../../src/substrate/ledger/index.ts';
import { SCHEMA } from '../../../src/substrate/ledger/schema.ts';
import { claim, decide, openBench, refusal, result, temporaryFolder } from './support.ts';

test('a sound ledger is sound, and checking changes nothing', () => {
  const bench = openBench();
  decide(bench, claim('a-1'));
  bench.ledger.settle(bench.lease, 'a-1', result());
  const before = readFileSync(bench.path);
  expect(checkDatabase(bench.path)).toEqual({
    path: bench.path,
    ok: true,
    bytes: statSync(bench.path).size,
    schemaVersion: SCHEMA,
    events: bench.ledger.lastSeq(),
    lastSeq: bench.ledger.lastSeq(),
    problems: [],
    files: [],
    violations: [],
    backups: [],
  });
  expect(readFileSync(bench.path)).toEqual(before);
});

test.each([
  [
    'a missing event',
    `DROP TRIGGER event_never_goes; PRAGMA foreign_keys = OFF; DELETE FROM event WHERE seq = 2;
CREATE TRIGGER event_never_goes BEFORE DELETE ON event
  BEGIN SELECT raise(ABORT, 'an event never goes'); END;`,
    'seq-gap',
  ],
  ['a settlement taken back', "UPDATE attempt SET status = 'claimed'", 'settled-not-once'],
  ['a missing settlement', 'PRAGMA foreign_keys = OFF; DELETE FROM settlement', 'points to a row'],
  ['a trigger that is gone', 'DROP TRIGGER event_never_goes', 'trigger event_never_goes'],
  ['a row of a table', "UPDATE attempt SET agent = 'other'", 'row 1 of attempt'],
  ['a cursor moved by hand', 'UPDATE run SET applied = 1', 'applied-twice'],
])('%s is found', (_, sql, expected) => {
  const bench = openBench();
  decide(bench, claim('a-1'));
  bench.ledger.settle(bench.lease, 'a-1', result());
  const other = new Database(bench.path);
  teachRowDigest(other);
  other.exec(sql);
  other.close();
  const check = checkDatabase(bench.path);
  expect(check.ok).toBe(false);
  expect([...check.problems, ...check.violations.map((found) => found.rule)].join()).toContain(expected);
});

test('damage is an answer, not a crash; no ledger at all is a mistake of the caller', () => {
  const bench = openBench();
  bench.ledger.close();
  truncateSync(bench.path, 5000);
  const check = checkDatabase(bench.path);
  expect(check.ok).toBe(false);
  expect(check.problems.join()).toContain('cut short');
  expect(refusal(() => checkDatabase(join(temporaryFolder(), 'squad.db')))).toBe('usage');
});
