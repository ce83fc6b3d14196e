// @module-tag all
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { again, APPROVE_ALL, author, commits, objective, piece, plan, type Step } from './run-script.ts';

let bench: RunBench;
afterEach(() => bench.end());

const shell = (text: string): Step => ({ run: ['sh', '-c', text] });
/** Where it runs, and which folders are there. */
const SEEN = 'echo "$(ls packages | tr "\\n" " ")" >> "$SEEN"';

describe('a run with `sparse`', { timeout: 120_000 }, () => {
  it('gives agents a part, checks the whole, and delivers what they change in either', async () => {
    bench = openRunBench({
      files: { 'packages/web/a.txt': 'a\n', 'packages/api/b.txt': 'b\n', 'root.txt': 'root\n' },
      settings: {
        sparse: ['packages/web'],
        verify: [{ run: `${SEEN}; test -f packages/api/b.txt`, env: ['SEEN'] }],
      },
      objective: objective({ criteria: ['the rest is there (run: `test -f packages/api/b.txt`)'] }),
      script: [
        plan([piece('one')]),
        author('one', [
          shell('test -f packages/web/a.txt && test -f root.txt && test ! -e packages/api'),
          shell('mkdir -p packages/api && echo new > packages/api/new.txt'),
          ...commits({ 'packages/web/c.txt': 'c' }),
        ]),
        again('one', 'evidence', [
          shell('git add --sparse packages/api/new.txt && git commit -q -m more'),
          { answer: 'done' },
        ]),
        APPROVE_ALL,
      ],
    });
    const seen = join(bench.root, 'seen');
    const run = ['run', 'objective.md', '--runtime', 'scripted', '--yes', '--plain', '--name', 'part'];
    const { code, stdout, stderr } = await bench.run(run, { SEEN: seen });
    expect(code, stdout + stderr).toBe(0);
    const lines = readFileSync(seen, 'utf8').trim().split('\n');
    expect((await bench.run(['status', 'part'])).stdout).toContain('agents have only packages/web and');
    expect(new Set(lines.map((line) => line.trim()))).toEqual(new Set(['api web']));
    const changed = git(bench.repository, 'diff', '--name-status', 'main', 'squad/part');
    expect(changed).toContain('A\tpackages/web/c.txt');
    expect(changed).toContain('A\tpackages/api/new.txt');
    expect(changed).not.toContain('D\t');
    expect(git(bench.repository, 'show', 'squad/part:packages/api/b.txt')).toBe('b');
  });
});
