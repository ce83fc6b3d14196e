import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { allowedMs } from '../support/busy-machine.ts';
import { ALL } from '../support/lane.ts';
import { promptOf, workers, type SessionAbout } from '../support/session-folder.ts';
import { startsOf } from './run-bench.ts';
import { waitFor } from './run-script.ts';
import { openSessionBench, PAIR, type SessionBench } from './session-bench.ts';

type Engine = ReturnType<SessionBench['start']>;
type Test = Parameters<typeof openSessionBench>[0];

/** A second, as fast as this machine is now. */
const WITHIN_MS = allowedMs(1_000);

/** With the start of an engine. */
const BEGUN_MS = allowedMs(5_000);

/** Waits until the folder says so. */
async function shown({ state }: SessionBench, status: 'active' | 'paused'): Promise<void> {
  const from = performance.now();
  const within = status === 'paused' ? WITHIN_MS : BEGUN_MS;
  while (state()['status'] !== status) {
    expect(performance.now() - from, `${status}, not ${String(state()['status'])}`).toBeLessThan(within);
    await sleep(20);
  }
}

/** A run in which a task waits until `open` is called. */
async function begun(test: Test, held: string, about: SessionAbout = PAIR, more: readonly string[] = []) {
  const bench = openSessionBench(test, about);
  const file = join(bench.root, 'open');
  const all = workers(about, (task) => (task === held ? [waitFor(file)] : []));
  // The session goes on after a stop.
  const again = all.filter(({ when }) => when === promptOf(held));
  bench.rescript([...all, ...again.map((entry) => ({ ...entry, when: 'Your last turn on task' }))]);
  const engine = bench.startPlay(more);
  await engine.line(({ type, task }) => type === 'tool-started' && task === held.toLowerCase());
  await shown(bench, 'active');
  return { bench, engine, open: () => writeFileSync(file, '') };
}

async function told(bench: SessionBench, ...args: string[]): Promise<void> {
  const said = await bench.run(args);
  expect(said.code, said.stderr).toBe(0);
}

async function interrupted({ child, finished }: Engine): Promise<void> {
  child.kill('SIGINT');
  await sleep(300);
  child.kill('SIGINT');
  expect((await finished).code).toBe(130);
}

describe('the status in the folder of a session', { ...ALL, timeout: 120_000 }, () => {
  it('is paused by `squad pause`, and active again by `squad resume`', async (test) => {
    const { bench, engine, open } = await begun(test, 'SPEC-001');
    await expect.poll(() => bench.state()['active_workers'], { timeout: WITHIN_MS }).toEqual(['analyst']);
    await told(bench, 'pause');
    await shown(bench, 'paused');
    await told(bench, 'resume');
    await shown(bench, 'active');
    open();
    const ended = await engine.finished;
    expect([ended.code, startsOf(ended).length], ended.stderr).toEqual([0, 3]);
    expect(bench.state()).toMatchObject({ status: 'completed', active_workers: [] });
  });

  it.for<[string, (bench: SessionBench, engine: Engine) => Promise<void>]>([
    ['`squad stop`', async (bench) => told(bench, 'stop')],
    ['Ctrl-C', async (_, engine) => interrupted(engine)],
  ])('is paused by %s, and active again with the next engine', async ([, end], test) => {
    const { bench, engine, open } = await begun(test, 'MAKE-001');
    await end(bench, engine);
    await shown(bench, 'paused');
    await engine.finished;
    expect(bench.state()).toMatchObject({ active_workers: [], completed_tasks: ['SPEC-001'] });
    const next = bench.start(['resume', '--json']);
    await shown(bench, 'active');
    open();
    const ended = await next.finished;
    expect(ended.code, ended.stderr).toBe(0);
    expect(startsOf(ended).map(({ task }) => task)).toEqual(['make-001', 'make-002']);
    expect(bench.state()).toMatchObject({ status: 'completed' });
  });

  it('is paused by a cap, and active again with a higher one', async (test) => {
    const { bench, engine, open } = await begun(test, 'SPEC-001', PAIR, ['--max-turns', '1']);
    open();
    expect((await engine.finished).code).toBe(4);
    await shown(bench, 'paused');
    const file = join(bench.root, 'again');
    bench.rescript(workers(PAIR, (task) => (task === 'MAKE-001' ? [waitFor(file)] : [])));
    const next = bench.start(['resume', '--json', '--max-turns', '9']);
    await shown(bench, 'active');
    writeFileSync(file, '');
    expect((await next.finished).code).toBe(0);
    expect(bench.state()).toMatchObject({ status: 'completed' });
  });

  it('is paused by a task that fails while others work, and completed once it was retried', async (test) => {
    const about: SessionAbout = {
      roles: [...PAIR.roles, { name: 'writer', responsibility: 'code-gen (docs)' }],
      tasks: [...PAIR.tasks, { id: 'DOC-001', role: 'writer', needs: ['SPEC-001'] }],
    };
    const bench = openSessionBench(test, about);
    const file = join(bench.root, 'open');
    const fails = { when: promptOf('MAKE-001'), steps: [{ fail: { kind: 'model-refused', message: 'no' } }] };
    bench.rescript([fails, ...workers(about, (task) => (task === 'DOC-001' ? [waitFor(file)] : []))]);
    const engine = bench.startPlay();
    await engine.line(({ type, task }) => type === 'attempt-ended' && task === 'make-001');
    await shown(bench, 'paused');
    expect(bench.state()).toMatchObject({ active_workers: ['writer'], completed_tasks: ['SPEC-001'] });
    writeFileSync(file, '');
    expect((await engine.finished).code).toBe(1);
    expect(bench.state()).toMatchObject({ status: 'paused', completed_tasks: ['SPEC-001', 'DOC-001'] });
    bench.rescript(workers(about));
    await told(bench, 'retry', 'make-001', '--fresh');
    const ended = await bench.run(['resume', '--json']);
    expect(ended.code, ended.stderr).toBe(0);
    expect(bench.state()).toMatchObject({ status: 'completed', pipeline: { tasks_total: 4, tasks_completed: 4 } });
  });

  it('is completed once the other half of a session is done that was begun elsewhere', async (test) => {
    const about = { ...PAIR, status: 'paused', done: ['SPEC-001', 'MAKE-001'] };
    const bench = openSessionBench(test, about);
    const ended = await bench.play(['--json']);
    expect(ended.code, ended.stderr).toBe(0);
    expect(startsOf(ended).map(({ task }) => task)).toEqual(['make-002']);
    expect((await bench.status()).turns).toMatchObject({ started: 1, settled: 1 });
    expect(bench.state()).toMatchObject({
      status: 'completed',
      completed_tasks: ['SPEC-001', 'MAKE-001', 'MAKE-002'],
      pipeline: { tasks_completed: 3 },
    });
  });
});
