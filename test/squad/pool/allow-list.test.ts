import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { allowFile, allowRun, isAllowed } from '../../../src/squad/pool/allow-list.ts';

const RUN = {
  repository: 'ssh://git.example/a.git',
  items: [
    { from: 'verify', run: 'npm test' },
    { from: 'env', run: 'every command gets the variable TOKEN' },
  ],
};

let host: { configHome: string };
beforeEach(() => {
  host = { configHome: mkdtempSync(join(tmpdir(), 'squad-allow-')) };
});
afterEach(() => rmSync(host.configHome, { recursive: true, force: true }));

it('allows exactly what a person saw, in any order, and in that repository', async () => {
  expect(await isAllowed(host, RUN)).toBe(false);
  await allowRun(host, RUN, 1);
  expect(await isAllowed(host, RUN)).toBe(true);
  expect(await isAllowed(host, { ...RUN, items: RUN.items.toReversed() })).toBe(true);
  const others = [
    { ...RUN, repository: 'ssh://git.example/b.git' },
    { ...RUN, items: RUN.items.slice(1) },
    { ...RUN, items: [] },
    { ...RUN, items: [...RUN.items, { from: 'verify', run: 'rm -r x' }] },
    { ...RUN, items: [{ from: 'verify', run: 'npm  test' }, ...RUN.items.slice(1)] },
    { ...RUN, items: [{ from: 'setup', run: 'npm test' }, ...RUN.items.slice(1)] },
  ];
  expect(await Promise.all(others.map(async (one) => isAllowed(host, one)))).toEqual(others.map(() => false));
});

it('asks for a repository whose runs start nothing, too', async () => {
  const plain = { ...RUN, items: [] };
  expect(await isAllowed(host, plain)).toBe(false);
  await allowRun(host, plain, 1);
  expect([await isAllowed(host, plain), await isAllowed(host, RUN)]).toEqual([true, false]);
});

it('keeps what was allowed before, for this user alone', async () => {
  await Promise.all(['a', 'b', 'c'].map(async (name) => allowRun(host, { ...RUN, repository: name }, 1)));
  const all = ['a', 'b', 'c'].map(async (name) => isAllowed(host, { ...RUN, repository: name }));
  expect(await Promise.all(all)).toEqual([true, true, true]);
  expect(statSync(allowFile(host)).mode & 0o777).toBe(0o600);
});

it('refuses a file that squad did not write, and allows nothing by it', async () => {
  await allowRun(host, RUN, 1);
  writeFileSync(allowFile(host), '{"version":1,"allowed":true}');
  await expect(isAllowed(host, RUN)).rejects.toThrow('squad did not write this');
});
