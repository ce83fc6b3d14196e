// @module-tag all
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { stateOf } from '../support/state.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from './run-script.ts';

let bench: RunBench;
afterEach(() => bench.end());

const FILES = 300;
const RUN = ['run', 'objective.md', '--runtime', 'scripted', '--yes', '--plain'];

const MANY = Object.fromEntries([
  ...Array.from({ length: FILES }, (_, n) => [`src/p${n % 20}/file-${n}.ts`, `export const x = ${n};\n`] as const),
  ['.gitignore', 'dist\n'] as const,
]);

const LEAVES = [{ run: ['mkdir', 'dist'] }, { write: { path: 'dist/secret', text: 'of a' } }];
const CLEAN = [{ run: ['test', '!', '-e', 'dist'] }, { run: ['test', '!', '-e', 'draft.txt'] }];

describe('the folders of a large repository', { timeout: 120_000 }, () => {
  it('are used by the next task and the next run, and nothing of a task is left in them', async () => {
    bench = openRunBench({
      files: MANY,
      settings: { limits: { parallel: 2 } },
      script: [
        plan([piece('a'), piece('b', { needs: ['a'] }), piece('c', { needs: ['b'] })]),
        author('a', [...LEAVES, ...commits({ 'a.txt': 'a' }), { write: { path: 'draft.txt', text: 'draft' } }]),
        author('b', [...CLEAN, ...commits({ 'b.txt': 'b' })]),
        author('c', [...CLEAN, ...commits({ 'c.txt': 'c' })]),
        APPROVE_ALL,
      ],
    });
    const pool = (): string => join(stateOf(bench.repository), 'work', '.spare');
    const states = (): string => readdirSync(pool()).join();
    for (const name of ['first', 'second']) {
      const { code, stdout, stderr } = await bench.run([...RUN, '--name', name], {});
      expect(code, stdout + stderr).toBe(0);
      expect(git(bench.repository, 'ls-tree', '--name-only', `squad/${name}`)).toMatch(/a\.txt\nb\.txt\nc\.txt/);
      expect(git(bench.repository, 'show', '--stat', `squad/${name}`)).not.toContain('secret');
      // After the command, a process of its own brings back and deletes what is left.
      await expect.poll(states, { timeout: 60_000 }).not.toMatch(/left|work/);
      expect(states()).toContain('ready');
    }
    const cleaned = await bench.run(['clean', '--all']);
    expect(cleaned.stdout).toMatch(/removed {2}\d+ folders? kept for the next tasks/);
    expect(existsSync(pool())).toBe(false);
  });
});
