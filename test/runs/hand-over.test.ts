import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { openLedger } from '../../src/substrate/ledger/index.ts';
import { createSystemClock } from '../../src/substrate/system/clock/system-clock.ts';
import { stateOf } from '../support/state.ts';
import type { Engine } from '../support/engine.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { ALL } from '../support/lane.ts';
import { APPROVE_ALL, author, commits, objective, piece, plan, waitFor } from './run-script.ts';

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
  it('is taken by that engine, and each terminal ends with its own run', ALL, async (test) => {
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

  it('starts no turn on an account of which the other run has found out the limit', ALL, async (test) => {
    const limit = { kind: 'quota-exhausted', message: 'come back later', retryIn: 15_000 };
    const bench = openRunBench({ script: [] });
    test.onTestFinished(() => bench.end());
    const [fails, works] = ['fails', 'works'].map((name) => join(bench.root, name));
    bench.rescript([
      author('a', [waitFor(fails ?? ''), { run: ['true'] }, { fail: limit }], { turn: 1 }),
      { turn: 2, steps: commits({ 'a.txt': 'a\n' }) },
      author('b', [waitFor(works ?? ''), ...commits({ 'b.txt': 'b\n' })]),
      APPROVE_ALL,
      // Last, because all prompts of a run name its objective.
      plan([piece('a')], 'Make alpha'),
      plan([piece('b')], 'Make beta'),
    ]);
    const start = async (name: string, title: string, task: string): Promise<Engine> => {
      bench.objective(objective({ title }));
      const engine = bench.startRun(['--name', name]);
      await engine.line((line) => line['type'] === 'tool-started' && line['task'] === task);
      return engine;
    };
    const first = await start('first', 'Make alpha', 'a');
    const second = await start('second', 'Make beta', 'b');
    writeFileSync(fails ?? '', '');
    const limited = await first.line(({ type, task }) => type === 'attempt-ended' && task === 'a');
    writeFileSync(works ?? '', '');
    const { retryAt: until } = limited['failure'] as { retryAt: number };
    const { why } = await second.line(({ type, next }) => type === 'decided' && next === 'stop');
    // It gives its place back, as at a limit that it finds out for itself.
    expect(why).toBe(`waiting for scripted, at its usage limit, until ${new Date(until).toISOString()}`);
    expect((await bench.run(['status', 'second', '--json'])).lines[0]).toMatchObject({
      waitingFor: { for: 'time', account: 'scripted', until },
    });
    expect((await first.finished).code).toBe(0);
    await vi.waitFor(async () => expect(await states(bench)).toEqual(DONE), { timeout: 120_000, interval: 500 });
    const ledger = openLedger(stateOf(bench.repository), { clock: createSystemClock(), readOnly: true });
    const later = ledger
      .attempts({})
      .flatMap(({ kind, claimedAt }) => (kind === 'turn' && claimedAt > Number(limited['at']) ? [claimedAt] : []));
    ledger.close();
    expect(later.length).toBeGreaterThan(1);
    for (const at of later) expect(at).toBeGreaterThanOrEqual(until);
  });

  it('waits for a place, and is started in the background once that engine has ended', ALL, async (test) => {
    const bench = await two(test, { serve: { limits: { parallelRuns: 1 } } });
    expect((await bench.run(['queue', '--json'])).lines).toMatchObject([{ name: 'second', state: 'ready' }]);
    bench.open();
    const [first, second] = await Promise.all([bench.first.finished, bench.second.finished]);
    expect([first.code, second.code], first.stderr + second.stderr).toEqual([0, 0]);
    const startedAt = (engine: typeof first): number =>
      Number(engine.lines.find(({ type }) => type === 'attempt-taken')?.['at']);
    expect(startedAt(second)).toBeGreaterThan(Number(first.lines.at(-1)?.['at']));
  });

  it.for([
    ['interrupted', 'SIGINT', 3, 130],
    ['closed', 'SIGHUP', 1, 143],
  ] as const)(
    'goes on in the background if the terminal of the engine is %s',
    ALL,
    async ([, signal, presses, code], test) => {
      const bench = await two(test);
      for (let press = 0; press < presses; press += 1) {
        bench.first.child.kill(signal);
        // Signals that come at once are one.
        await setTimeout(400);
      }
      const first = await bench.first.finished;
      expect([first.code, first.stderr]).toEqual([code, expect.stringContaining('second continues in the background')]);
      bench.open();
      const second = await bench.second.finished;
      expect([second.code, second.lines.at(-1)?.['outcome']], second.stderr).toEqual([0, 'done']);
      expect(await states(bench)).toEqual({ first: expect.stringMatching(/interrupted|stopped/), second: 'done' });
    },
  );

  it('is driven by its own terminal if the engine dies', ALL, async (test) => {
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

  it('is stopped alone by its own terminal', ALL, async (test) => {
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
