import { expect, test } from 'vitest';
import { isSafeSqlite } from '../../../src/substrate/ledger/sqlite-version.ts';

test.each([
  ['3.54.1', true],
  ['3.51.3', true],
  ['3.51.10', true],
  ['3.52.1', true],
  ['3.53.0', true],
  ['4.0.0', true],
  ['3.52.0', false],
  ['3.51.2', false],
  ['3.40.1', false],
  ['3.7.0', false],
  ['2.99.99', false],
  ['3.51', false],
  ['', false],
  ['unknown', false],
])('SQLite %s: safe is %s', (version, safe) => {
  expect(isSafeSqlite(version)).toBe(safe);
});
