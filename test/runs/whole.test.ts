import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { openRunBench, statusOf, turnsOf } from './run-bench.ts';
import { APPROVE_ALL, author, commits, objective, piece, plan } from './run-script.ts';
import { ALL } from '../support/lane.ts';

describe.concurrent('what only shows once everything is together', { timeout: 300_000 }, () => {
  it('a criterion that fails on the run branch gets a piece of its own, and is met in the end', async (test) => {
    const bench = openRunBench({
      objective: objective({ criteria: ['z is there (run: `test -f z.txt`)'] }),
      script: [
        plan([piece('a')]),
        author('a', commits({ 'a.txt': 'a\n' })),
        author('fix-1', commits({ 'z.txt': '{prompt}' })),
        APPROVE_ALL,
      ],
    });
    test.onTestFinished(() => bench.end());
    const ended = await bench.runAll();
    expect(ended.code, `${ended.stderr}${JSON.stringify(ended.lines.at(-1))}`).toBe(0);
    expect(bench.fileOnBranch('z.txt')).toContain('test -f z.txt');
    const status = await bench.status();
    expect(status.criteria).toMatchObject([{ state: 'met' }]);
    expect(statusOf(status, 'fix-1')).toBe('done');
    expect(status).toMatchObject({ headline: 'DONE, all work is delivered and verified', exitCode: 0 });
  });

  it('an agent that dies goes on in its session, at no cost but a turn', ALL, async (test) => {
    const bench = openRunBench({
      settings: { limits: { retries: 0 } },
      script: [
        plan([piece('a')]),
        author('a', [{ write: { path: 'half.txt', text: 'half' } }, { exit: 3 }], { turn: 1 }),
        { when: 'was cut short', steps: commits({ 'a.txt': 'a\n' }) },
        APPROVE_ALL,
      ],
    });
    test.onTestFinished(() => bench.end());
    const ended = await bench.runAll();
    expect(ended.code, ended.stderr).toBe(0);
    expect([bench.fileOnBranch('a.txt'), bench.fileOnBranch('half.txt')]).toEqual(['a', 'half']);
    expect(turnsOf(ended, 'a').map(({ outcome }) => outcome)).toEqual(['failed', 'completed', 'completed']);
  });

  it('a check that is stopped in the middle is made again by the next engine', ALL, async (test) => {
    const bench = openRunBench({ script: [plan([piece('a')]), author('a', commits({ 'a.txt': 'a\n' })), APPROVE_ALL] });
    test.onTestFinished(() => bench.end());
    const [log, gate] = [join(bench.root, 'checked'), join(bench.root, 'gate')];
    bench.settings({ baseline: 'off', verify: [{ run: `echo checked >> ${log}; test -e ${gate} || sleep 600` }] });
    const first = bench.startRun();
    await untilThere(log);
    const [stopped, ended] = await Promise.all([bench.run(['stop']), first.finished]);
    expect([stopped.code, ended.code], stopped.stderr + ended.stderr).toEqual([0, 4]);
    expect(bench.alive()).toEqual([]);
    expect(bench.fileOnBranch('a.txt')).toBeUndefined();
    writeFileSync(gate, '');
    const resumed = await bench.run(['resume', '--json']);
    expect(resumed.code, `${resumed.stderr}${JSON.stringify(resumed.lines.at(-1))}`).toBe(0);
    // The last time in the check of the run branch.
    expect(readFileSync(log, 'utf8')).toBe('checked\nchecked\nchecked\n');
    expect(bench.fileOnBranch('a.txt')).toBe('a');
  });
});

describe.concurrent('an agent that reaches beyond its worktree', { timeout: 300_000 }, () => {
  it('into git’s own configuration: it is that of its folder, and no git of the engine reads it', ALL, async (test) => {
    const hook = '/bin/sh -c "touch pwned"';
    const bench = openRunBench({
      script: [
        plan([piece('a')]),
        author('a', [...commits({ 'a.txt': 'a\n' }), { run: ['git', 'config', 'core.fsmonitor', hook] }]),
        APPROVE_ALL,
      ],
    });
    test.onTestFinished(() => bench.end());
    const ended = await bench.runAll();
    expect(ended.code, JSON.stringify(ended.lines.at(-1))).toBe(0);
    expect(bench.fileOnBranch('a.txt')).toBe('a');
    expect(existsSync(join(bench.repository, 'pwned'))).toBe(false);
    expect(() => git(bench.repository, 'config', 'core.fsmonitor')).toThrow();
  });
});

async function untilThere(path: string): Promise<void> {
  while (!existsSync(path)) await new Promise((resolve) => setTimeout(resolve, 50));
}
