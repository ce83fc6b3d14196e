import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SOURCE = join(import.meta.dirname, '../../../src');
const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  // A pool keeps its records in PostgreSQL.
  .filter((name) => name.endsWith('.ts') && !/(^|\/)pool\//.test(name))
  .map((name) => ({ name, text: readFileSync(join(SOURCE, name), 'utf8') }));

function filesWith(pattern: RegExp): string[] {
  return files.filter((file) => pattern.test(file.text)).map((file) => file.name.replaceAll('\\', '/'));
}

test('transactions are opened in one file, and when a file is claimed', () => {
  expect(filesWith(/\.transaction\(/)).toEqual(['substrate/ledger/open-db.ts', 'substrate/ledger/transactions.ts']);
});

test('no SQL begins a transaction that may have to be upgraded: the export opens its file for reading alone', () => {
  expect(filesWith(/['"`;]\s*BEGIN(?! (IMMEDIATE|EXCLUSIVE))\b/)).toEqual(['substrate/ledger/export.ts']);
});

test('SQLite files are opened in one place', () => {
  expect(filesWith(/new Database\((?!':memory:')|fromConnString/)).toEqual(['substrate/ledger/open-db.ts']);
});
