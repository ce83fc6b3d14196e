import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

it('names a test or a bench that is there for every requirement of objective', () => {
  const page = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
  const rows = page.split('\n').filter((line) => /^\| N?FR-FBO-/.test(line));
  const ids = (kind: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${kind}-FBO-${String(index + 1).padStart(3, '0')}`);
  expect(rows.map((row) => /N?FR-FBO-\d{3}/.exec(row)?.[0])).toEqual([...ids('FR', 21), ...ids('NFR', 8)]);
  for (const row of rows) {
    const files = [...row.matchAll(/`((?:test|bench)\/[\w./-]+\.ts)`/g)].map(([, file]) => file ?? '');
    expect(files, row).not.toEqual([]);
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  }
});
