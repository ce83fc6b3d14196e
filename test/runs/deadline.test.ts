import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { compose } from '../../src/engine/compose.ts';
import type { Engine } from '../support/engine.ts';
import { openRunBench, type RunBench, startsOf, statusOf, turnsOf } from './run-bench.ts';
import { APPROVE_ALL, author, commits, objective, piece, plan, waitFor } from './run-script.ts';
import { ALL, some } from '../support/lane.ts';
import { replayRun } from '../support/replay/replay-run.ts';
import { testHost } from '../support/test-host.ts';
import { stateOf } from '../support/state.ts';

const made = (id: string) => author(id, commits({ [`${id}.txt`]: `${id}\n` }));
const WORK = [plan([piece('a'), piece('b', { needs: ['a'] })]), made('a'), made('b'), APPROVE_ALL];
/** How the run is left before its deadline, with the work of `a` not done. */
const LEFT: readonly (readonly [title: string, leave: (bench: RunBench, engine: Engine) => Promise<unknown>])[] = [
  ['parked', async (_bench, engine) => engine.finished],
  ['stopped', async (bench) => bench.run(['stop'])],
  [
    'killed',
    async (_bench, { child, finished }) => {
      child.kill('SIGKILL');
      await finished;
    },
  ],
];
const LIMIT = { kind: 'quota-exhausted', message: 'come back later', retryIn: 3_600_000 };

const due = (at: number): string => `${objective()}\n## Deadline\n\n${new Date(at).toISOString()}\n`;

describe('a run and its deadline', { timeout: 120_000 }, () => {
  it('finishes the turn at work, starts none, and works on when a person says so', ALL, async (test) => {
    const bench = openRunBench({ script: WORK });
    test.onTestFinished(() => bench.end());
    const open = join(bench.root, 'open');
    bench.rescript([author('a', [waitFor(open), ...commits({ 'a.txt': 'a\n' })]), ...WORK]);
    const deadline = Math.ceil((Date.now() + 15_000) / 1000) * 1000;
    bench.objective(due(deadline));
    const engine = bench.startRun();
    await engine.line(({ type, task }) => type === 'tool-started' && task === 'a');
    expect((await bench.run(['status'])).stdout).toMatch(/deadline/);
    expect((await bench.run(['runs'])).stdout).toMatch(/deadline/);
    await new Promise((resolve) => setTimeout(resolve, deadline - Date.now() + 3_000));
    expect(engine.child.exitCode).toBeNull();
    writeFileSync(open, '');
    const ended = await engine.finished;
    expect(ended.code, ended.stderr).toBe(4);
    expect(turnsOf(ended, 'a')).toMatchObject([{ outcome: 'completed' }]);
    expect(startsOf(ended).every(({ at }) => Number(at) < deadline)).toBe(true);
    expect(ended.lines.at(-1)).toMatchObject({
      type: 'run-ended',
      outcome: 'stopped',
      headline: expect.stringMatching(/^STOPPED, the deadline .* UTC has passed; no turn starts after it$/),
      next: ['squad resume make-things --past-deadline'],
    });
    const before = await bench.status();
    expect(before).toMatchObject({ phase: 'stopped', deadline, next: ['squad resume make-things --past-deadline'] });
    expect(statusOf(before, 'a')).toBe('reviewing');

    const again = await bench.run(['resume', '--json']);
    expect([again.code, startsOf(again)], again.stderr).toEqual([4, []]);
    expect((await bench.run(['resume', '--all', '--json'])).lines.at(-1)).toMatchObject({ runs: [] });
    const wrong = await bench.run(['resume', '--all', '--past-deadline']);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--past-deadline works on one whole run')]);

    const past = await bench.run(['resume', '--past-deadline', '--no-wait']);
    expect(past.code, past.stderr).toBe(0);
    expect(past.stderr).toContain('make-things works past its deadline from now on');
    expect([bench.fileOnBranch('a.txt'), bench.fileOnBranch('b.txt')]).toEqual(['a', 'b']);
    expect(await bench.report()).toMatch(/past-deadline/);
    const { differences } = await replayRun(compose(testHost(bench.root)), stateOf(bench.repository));
    expect(differences).toEqual([]);
  });

  it.each(some(LEFT, 0, 1))('starts nothing if it passes while the run is %s', ALL, async (title, leave) => {
    const bench = openRunBench({ script: WORK });
    onTestFinished(() => bench.end());
    const open = join(bench.root, 'open');
    const parks = title === 'parked';
    const first = author('a', parks ? [{ fail: LIMIT }] : [waitFor(open), ...commits({ 'a.txt': 'a\n' })]);
    bench.rescript([first, ...WORK]);
    const deadline = Math.ceil((Date.now() + 12_000) / 1000) * 1000;
    bench.objective(due(deadline));
    const engine = bench.startRun(parks ? ['--no-wait'] : []);
    await engine.line(({ type, task }) => type === (parks ? 'attempt-ended' : 'tool-started') && task === 'a');
    await leave(bench, engine);
    expect(Date.now(), 'it was left in time').toBeLessThan(deadline);
    bench.rescript(WORK);
    await new Promise((resolve) => setTimeout(resolve, deadline - Date.now() + 100));
    writeFileSync(open, '');
    expect((await bench.run(['status'])).stdout).toContain('passed: no turn starts after it');
    for (const _ of [1, 2]) {
      const resumed = await bench.run(['resume', '--json']);
      expect(resumed.code, resumed.stderr).toBe(4);
      expect(startsOf(resumed).filter(({ how }) => how !== 'attached')).toEqual([]);
      expect(resumed.lines.at(-1)?.['headline']).toMatch(/^STOPPED, the deadline .* has passed/);
    }
    expect((await bench.run(['resume', '--all', '--json'])).lines.at(-1)).toMatchObject({ runs: [] });
    const ledger = bench.ledger();
    const attempts = ledger.attempts({}).filter(({ kind }) => kind === 'turn');
    ledger.close();
    expect(attempts.filter(({ spawnedAt }) => (spawnedAt ?? 0) >= deadline)).toEqual([]);
  });
});
