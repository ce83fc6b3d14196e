// @module-tag all
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allowedMs } from '../support/busy-machine.ts';
import type { Engine, Finished } from '../support/engine.ts';
import { openRunBench, startsOf, statusOf, turnsOf, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from './run-script.ts';

const HANG = [{ run: ['true'] }, { hang: true }];
/** Whoever was cut short is told, in the same session. */
const CUT_SHORT = { when: 'was cut short' };
const HANGS = [plan([piece('a')]), author('a', HANG), { ...CUT_SHORT, steps: HANG }, APPROVE_ALL];

/** One run that is ended in every way there is, and taken up again each time. */
describe('T21: a run that is stopped from outside', { timeout: 300_000 }, () => {
  let bench: RunBench;
  beforeAll(() => {
    bench = openRunBench({ script: HANGS });
  });
  afterAll(() => bench.end());

  const resume = (): Engine => bench.start(['resume', '--json']);
  const working = async (engine: Engine): Promise<Engine> => {
    await engine.line(({ type, task }) => type === 'tool-ended' && task === 'a');
    return engine;
  };
  const expectStill = async (ended: Finished, code: number, outcome: string): Promise<void> => {
    expect(ended.code, ended.stderr).toBe(code);
    expect(ended.lines.at(-1)).toMatchObject({ type: 'run-ended', outcome, exitCode: code });
    expect(existsSync(String(ended.lines.at(-1)?.['report']))).toBe(true);
    expect(bench.alive()).toEqual([]);
    const { turns, phase } = await bench.status();
    expect([turns.live, turns.started - turns.settled, phase]).toEqual([0, 0, 'stopped']);
  };

  it('Ctrl-C twice: it ends within ten seconds, and nothing of it lives', async () => {
    const engine = await working(bench.startRun());
    const from = Date.now();
    engine.child.kill('SIGINT');
    await new Promise((resolve) => setTimeout(resolve, 300));
    engine.child.kill('SIGINT');
    await expectStill(await engine.finished, 130, 'interrupted');
    expect(Date.now() - from).toBeLessThan(allowedMs(10_000));
  });

  it('Ctrl-C thrice: it is killed within a second, and nothing of it lives', async () => {
    const engine = await working(resume());
    for (const pause of [150, 150, 0]) {
      engine.child.kill('SIGINT');
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    const from = Date.now();
    const ended = await engine.finished;
    expect(Date.now() - from).toBeLessThan(allowedMs(3_000));
    // The last press may meet a process on its way out, whose handlers are gone: a shell says 130 of both.
    expect(ended.signal === 'SIGINT' ? 130 : ended.code, ended.stderr).toBe(130);
    expect(ended.lines.at(-1)).toMatchObject({ type: 'run-ended', outcome: 'interrupted' });
    expect(bench.alive()).toEqual([]);
  });

  it('SIGTERM: at once, exit 143', async () => {
    const engine = await working(resume());
    engine.child.kill('SIGTERM');
    await expectStill(await engine.finished, 143, 'interrupted');
  });

  it('`squad stop` while its engine lives: exit 4', async () => {
    const engine = await working(resume());
    const [stopped, ended] = await Promise.all([bench.run(['stop', '--json']), engine.finished]);
    expect(stopped.code, stopped.stderr).toBe(0);
    expect(stopped.lines[0]).toMatchObject({ type: 'run-stopped', ended: [expect.stringContaining('.a-')] });
    await expectStill(ended, 4, 'stopped');
  });

  it('`squad stop` after its engine was killed: the turn that lives on is ended and settled', async () => {
    const engine = await working(resume());
    engine.child.kill('SIGKILL');
    await engine.finished;
    expect(bench.alive()).not.toEqual([]);
    const stopped = await bench.run(['stop', '--json']);
    expect(stopped.code, stopped.stderr).toBe(0);
    expect(stopped.lines[0]).toMatchObject({ ended: [expect.stringContaining('.a-')] });
    expect(bench.alive()).toEqual([]);
    expect((await bench.status()).turns).toMatchObject({ live: 0 });
  });

  it('Ctrl-C once: the live turn may end, nothing new starts, exit 130', async () => {
    bench.rescript([{ ...CUT_SHORT, steps: [{ run: ['sleep', '1.5'] }, ...commits({ 'a.txt': 'a\n' })] }, APPROVE_ALL]);
    const engine = resume();
    await engine.line(({ type, task }) => type === 'tool-started' && task === 'a');
    engine.child.kill('SIGINT');
    const ended = await engine.finished;
    await expectStill(ended, 130, 'interrupted');
    expect(turnsOf(ended, 'a')).toMatchObject([{ outcome: 'completed' }]);
    expect(startsOf(ended)).toHaveLength(1);
  });

  it('goes on from there, and delivers', async () => {
    const ended = await resume().finished;
    expect(ended.code, ended.stderr).toBe(0);
    expect(statusOf(await bench.status(), 'a')).toBe('done');
    expect(bench.fileOnBranch('a.txt')).toBe('a');
    // Only the review was still to be had.
    expect(startsOf(ended)).toHaveLength(1);
  });

  it('`squad stop` is refused once it is over, and changes nothing', async () => {
    const before = await bench.status();
    const stopped = await bench.run(['stop']);
    expect([stopped.code, stopped.stdout]).toEqual([2, '']);
    expect(stopped.stderr).toContain(`run ${before.name} is over\nNext: See its result with \`squad report`);
    expect(await bench.status()).toEqual(before);
  });
});
