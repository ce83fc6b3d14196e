import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Engine } from '../support/engine.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan, waitFor } from './run-script.ts';

interface Two extends RunBench {
  readonly first: Engine;
  readonly second: Engine;
  /** Lets the builders of both go on. */
  open(): void;
}

interface Finishing {
  readonly onTestFinished: (end: () => void) => void;
}

/** One engine at work, and a second `squad run` beside it, whose run it has taken. */
async function two({ onTestFinished }: Finishing, settings: Readonly<Record<string, unknown>> = {}): Promise<Two> {
  const bench = openRunBench({ script: [], settings });
  onTestFinished(() => bench.end());
  const gate = join(bench.root, 'open');
  bench.rescript([plan([piece('a')]), author('a', [waitFor(gate), ...commits({ 'a.txt': 'a\n' })]), APPROVE_ALL]);
  const atWork = ({ type, task }: Record<string, unknown>): boolean => type === 'tool-started' && task === 'a';
  const first = bench.startRun(['--name', 'first']);
  await first.line(atWork);
  const second = bench.startRun(['--name', 'second']);
  await second.line(({ type }) => type === 'run-queued');
  if (settings['serve'] === undefined) await second.line(atWork);
  return { ...bench, first, second, open: () => writeFileSync(gate, '') };
}

async function states(bench: RunBench): Promise<Record<string, unknown>> {
  const { lines } = await bench.run(['runs', '--json']);
  return Object.fromEntries(lines.map(({ name, state }) => [name, state]));
}

const DONE = { first: 'done', second: 'done' };

describe.concurrent('a run beside an engine', { timeout: 300_000 }, () => {
  it('is taken by that engine, and each terminal ends with its own run', async (test) => {
    const bench = await two(test);
    const several = await bench.run(['stop', '--json']);
    expect([several.code, several.stderr]).toEqual([2, expect.stringContaining('first')]);
    bench.open();
    const [first, second] = await Promise.all([bench.first.finished, bench.second.finished]);
    expect([first.code, second.code], first.stderr + second.stderr).toEqual([0, 0]);
    expect(second.lines.at(-1)).toMatchObject({ type: 'run-ended', name: 'second', outcome: 'done' });
    expect(first.lines.some(({ name }) => name === 'second')).toBe(false);
    expect(await states(bench)).toEqual(DONE);
  });

  it('waits for a place, and is started in the background once that engine has ended', async (test) => {
    const bench = await two(test, { serve: { limits: { parallelRuns: 1 } } });
    expect((await bench.run(['queue', '--json'])).lines).toMatchObject([{ name: 'second', state: 'ready' }]);
    bench.open();
    const [first, second] = await Promise.all([bench.first.finished, bench.second.finished]);
    expect([first.code, second.code], first.stderr + second.stderr).toEqual([0, 0]);
    const startedAt = (engine: typeof first): number =>
      Number(engine.lines.find(({ type }) => type === 'attempt-taken')?.['at']);
    expect(startedAt(second)).toBeGreaterThan(Number(first.lines.at(-1)?.['at']));
  });

  it('goes on in the background if the terminal of the engine is interrupted', async (test) => {
    const bench = await two(test);
    for (let press = 0; press < 3; press += 1) {
      bench.first.child.kill('SIGINT');
      // Signals that come at once are one.
      await setTimeout(400);
    }
    const first = await bench.first.finished;
    expect([first.code, first.stderr]).toEqual([130, expect.stringContaining('second continues in the background')]);
    bench.open();
    const second = await bench.second.finished;
    expect([second.code, second.lines.at(-1)?.['outcome']], second.stderr).toEqual([0, 'done']);
    expect(await states(bench)).toEqual({ first: expect.stringMatching(/interrupted|stopped/), second: 'done' });
  });

  it('is driven by its own terminal if the engine dies', async (test) => {
    const bench = await two(test);
    bench.first.child.kill('SIGKILL');
    await bench.first.finished;
    bench.open();
    const second = await bench.second.finished;
    expect([second.code, second.lines.at(-1)?.['outcome']], second.stderr).toEqual([0, 'done']);
    expect(second.stderr).toContain('this terminal takes second over');
    const resumed = await bench.run(['resume', 'first', '--json']);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(await states(bench)).toEqual(DONE);
  });

  it('is stopped alone by its own terminal', async (test) => {
    const bench = await two(test);
    bench.second.child.kill('SIGTERM');
    const second = await bench.second.finished;
    expect([second.code, second.lines.at(-1)?.['outcome']], second.stderr).toEqual([143, 'stopped']);
    bench.open();
    const first = await bench.first.finished;
    expect(first.code, first.stderr).toBe(0);
    expect(await states(bench)).toEqual({ first: 'done', second: 'stopped' });
  });
});
