// @module-tag all
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, objective, piece, plan, type Step } from './run-script.ts';

let bench: RunBench;
afterEach(() => bench.end());

const RUN = ['run', 'objective.md', '--runtime', 'scripted', '--yes', '--plain'];
/** Stands for a package manager: writes down that it ran, and makes a module that the lock file names, with a link in it. */
const INSTALL =
  'echo ran >> "$INSTALLS"; mkdir -p node_modules/p node_modules/.bin; cp lock.txt node_modules/p/index.js; ln -sf ../p/index.js node_modules/.bin/p';
const SOUND = 'cmp lock.txt node_modules/.bin/p';
const shell = (text: string): Step => ({ run: ['sh', '-c', text] });

describe('what setup makes', { timeout: 240_000 }, () => {
  it('is made once for a lock file, is what each check sees, and serves the next run', async () => {
    bench = openRunBench({
      files: { '.gitignore': 'node_modules\n', 'lock.txt': 'one\n' },
      settings: {
        setup: [{ run: INSTALL, env: ['INSTALLS'], reuse: 'node_modules', when: 'lock.txt' }],
        verify: [{ run: SOUND }],
        limits: { parallel: 2 },
      },
      objective: objective({ criteria: [`the module is sound (run: \`${SOUND}\`)`] }),
      script: [
        plan([piece('a'), piece('b'), piece('c', { needs: ['a', 'b'] })]),
        author('a', [
          shell(SOUND),
          shell('echo evil > node_modules/p/index.js; rm node_modules/.bin/p; echo evil > node_modules/.bin/p'),
          ...commits({ 'a.txt': 'a' }),
        ]),
        author('b', [shell(SOUND), shell('rm -rf node_modules'), ...commits({ 'b.txt': 'b' })]),
        author('c', [shell(SOUND), ...commits({ 'c.txt': 'c' })]),
        APPROVE_ALL,
      ],
    });
    const log = join(bench.root, 'installs');
    const installs = (): number => readFileSync(log, 'utf8').split('\n').length - 1;
    const play = async (name: string): Promise<void> => {
      const { code, stdout, stderr } = await bench.run([...RUN, '--name', name], { INSTALLS: log });
      expect(code, stdout + stderr).toBe(0);
      expect(git(bench.repository, 'ls-tree', '--name-only', `squad/${name}`)).toMatch(/a\.txt\nb\.txt\nc\.txt/);
    };
    await play('first');
    expect(installs()).toBe(1);
    await play('second');
    expect(installs()).toBe(1);
    writeFileSync(join(bench.repository, 'lock.txt'), 'two\n');
    git(bench.repository, 'commit', '-qam', 'another lock file');
    await play('third');
    expect(installs()).toBe(2);
  });

  it('is refused before anything starts where git tracks it, or where a file on which it depends is missing', async () => {
    bench = openRunBench({ files: { 'made/a.txt': 'a\n' }, script: [] });
    for (const [step, words] of [
      [{ run: 'true', reuse: 'made', when: 'made/a.txt' }, 'made'],
      [{ run: 'true', reuse: 'node_modules', when: 'nope.lock' }, 'nope.lock'],
      [{ run: 'true', reuse: 'node_modules', when: 'made/a.txt', for: ['nobody-here'] }, 'nobody-here'],
    ] as const) {
      bench.settings({ setup: [step] });
      const { code, stderr } = await bench.run(RUN, {});
      expect(code, stderr).toBe(65);
      expect(stderr).toMatch(/squad\.yaml:\d+: [^\n]+\n\s*Next: /);
      expect(stderr).toContain(words);
    }
  });
});
