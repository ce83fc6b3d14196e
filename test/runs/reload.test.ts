import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openRunBench, statusOf, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, again, author, commits, piece, plan } from './run-script.ts';
import { ALL } from '../support/lane.ts';

let bench: RunBench;
afterEach(() => bench.end());

function settings(more: Record<string, unknown>): void {
  const { runtimes } = JSON.parse(readFileSync(join(bench.repository, 'squad.yaml'), 'utf8')) as { runtimes: object };
  bench.settings({ runtimes, ...more });
}

function reloads(): unknown[] {
  const ledger = bench.ledger();
  const found = ledger
    .events({})
    .filter(({ type, data }) => type === 'operator-command' && JSON.stringify(data).includes('"reload"'));
  ledger.close();
  return found;
}

describe('squad resume --reload', { timeout: 300_000 }, () => {
  it('reads a setup again that failed, once it is agreed to; later resumes go by it', ALL, async () => {
    bench = openRunBench({ script: [plan([piece('a')]), author('a', commits({ 'a.txt': 'a\n' })), APPROVE_ALL] });
    const [made, ran] = ['made', 'ran'].map((name) => join(bench.root, name));
    settings({ setup: [{ run: 'no-such-installer' }] });
    const failed = await bench.runAll();
    expect(failed.code, failed.stderr).toBe(3);
    expect(JSON.stringify(failed.lines.at(-1))).toContain('squad resume --reload');

    // Without a word about it nothing of the file counts.
    settings({ setup: [{ run: `echo x >> ${made}` }], limits: { turns: 3 } });
    expect((await bench.run(['resume', '--json'])).code).toBe(3);
    const refused = await bench.run(['resume', '--reload', '--json']);
    expect([refused.code, reloads()]).toEqual([78, []]);
    expect(refused.stderr + refused.stdout).toMatch(/squad\.yaml:\d+: setup: echo x >>/);
    expect(existsSync(String(made))).toBe(false);

    // The limit stops it after the plan and the work: the review is left for the next engine.
    settings({ setup: [{ run: `echo x >> ${made}` }], limits: { turns: 2 } });
    const stopped = await bench.run(['resume', '--reload', '--yes', '--plain']);
    expect(stopped.code, stopped.stdout + stopped.stderr).toBe(4);
    expect(stopped.stderr).toMatch(/From squad\.yaml: setup: `echo x[^]*From squad\.yaml: limits\.turns: 2/);
    expect(readFileSync(String(made), 'utf8')).toContain('x');
    expect((await bench.status()).limits.turns).toBe(2);

    settings({ setup: [{ run: `touch ${ran}; exit 1` }] });
    const done = await bench.run(['resume', '--json', '--max-turns', '9']);
    expect(done.code, done.stdout).toBe(0);
    expect(existsSync(String(ran))).toBe(false);
    expect(bench.fileOnBranch('a.txt')).toBe('a');
    expect(reloads()).toHaveLength(1);
    expect(await bench.report()).toMatch(/\| reload \| the run \| setup: echo x/);
  });

  it('adds a verification that was none before: what fails it goes back to its author', ALL, async () => {
    bench = openRunBench({
      script: [
        plan([piece('a'), piece('b', { needs: ['a'] })]),
        author('a', commits({ 'a.txt': 'a\n' })),
        again('b', 'verify', commits({ 'b.ok': 'b\n' })),
        author('b', commits({ 'b.txt': 'b\n' })),
        APPROVE_ALL,
      ],
    });
    const stopped = await bench.runAll(['--max-turns', '3']);
    expect([stopped.code, statusOf(await bench.status(), 'a')]).toEqual([4, 'done']);
    settings({ verify: [{ run: 'test -e b.ok' }], limits: { turns: 50, reviewRounds: 9 } });
    const done = await bench.run(['resume', '--reload', '--yes', '--plain']);
    expect(done.code, done.stdout + done.stderr).toBe(0);
    expect(done.stderr).toContain('limits.reviewRounds stays as it was when the run began');
    expect(bench.fileOnBranch('b.ok')).toBe('b');
    const { limits } = await bench.status();
    expect(limits).toMatchObject({ turns: 50, reviewRounds: 4 });
  });

  it('says so where nothing is new, and records nothing', ALL, async () => {
    bench = openRunBench({ script: [plan([piece('a')]), author('a', commits({ 'a.txt': 'a\n' })), APPROVE_ALL] });
    expect((await bench.runAll(['--max-turns', '2'])).code).toBe(4);
    const again_ = await bench.run(['resume', '--reload', '--plain']);
    expect(again_.code).toBe(4);
    expect(again_.stderr).toContain('squad.yaml has nothing new for this run.');
    expect(reloads()).toEqual([]);
    expect((await bench.run(['resume', '--reload', '--all'])).code).toBe(2);
  });
});
