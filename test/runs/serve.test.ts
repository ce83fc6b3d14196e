// @module-tag all
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readLockHolder } from '../../src/substrate/ledger/index.ts';
import { killAll } from '../support/marked-pids.ts';
import { stateOf } from '../support/state.ts';
import { NIGHTLY, openServeBench, until, type ServeBench } from './serve-bench.ts';
import { waitFor, author, APPROVE_ALL, piece, plan, commits } from './run-script.ts';

async function benchFor(...given: Parameters<typeof openServeBench>): Promise<ServeBench> {
  const bench = await openServeBench(...given);
  onTestFinished(() => bench.end());
  return bench;
}

async function allDone(bench: ServeBench, count: number): Promise<void> {
  const isDone = async (): Promise<boolean> => {
    const states = Object.values(await bench.states());
    return states.length === count && states.every((state) => state === 'done');
  };
  await until(isDone, async () => [await bench.states(), bench.log()]);
}

/** Work that can be done twice, on top of what another run has delivered too. The last entry is for a turn that was lost, whose session is asked to continue. */
function workAt(bench: ServeBench, gate: string): void {
  const work = [{ run: ['sh', '-c', 'echo a >>a.txt'] }, ...commits({})];
  bench.rescript([plan([piece('a')]), author('a', [waitFor(gate), ...work]), APPROVE_ALL, { steps: work }]);
}

/** Waits until the builder is at work. */
async function atWork(bench: ServeBench): Promise<void> {
  const isAtWork = (): boolean => {
    const ledger = bench.ledger();
    const spawned = ledger.attempts({}).some(({ taskId, status }) => taskId === 'a' && status === 'spawned');
    ledger.close();
    return spawned && bench.alive().length > 0;
  };
  await until(isAtWork, () => bench.log());
}

const FROM = { name: 'next', cron: '0 2 * * *', timezone: 'UTC', from: './next.sh' };

describe('squad serve', { timeout: 300_000 }, () => {
  it('starts a missed slot once, and what comes into the queue, and refuses a second service', async () => {
    const bench = await benchFor([NIGHTLY]);
    const pid = await bench.serve();
    const second = await bench.start(['serve']).finished;
    expect([second.code, second.stderr]).toEqual([
      75,
      expect.stringContaining(`squad serve runs here already (PID ${pid}`),
    ]);
    await bench.run(['add', 'objective.md', '--name', 'added', '--yes']);
    await allDone(bench, 2);
    const { started, left } = bench.record('nightly') ?? {};
    expect(left).toEqual([]);
    expect(Object.keys(await bench.states()).toSorted()).toEqual(['added', started?.name]);
    await until(
      () => readLockHolder(stateOf(bench.repository)) === undefined,
      () => bench.log(),
    );
    const status = (await bench.run(['serve', 'status', '--json'])).lines[0];
    expect(status).toMatchObject({ service: { pid }, engine: null, runs: { queued: 0, open: 0 } });
    // No other process is signalled that has got its number.
    const name = join(stateOf(bench.repository), 'service', 'lock.json');
    const said = readFileSync(name, 'utf8');
    writeFileSync(name, JSON.stringify({ ...(JSON.parse(said) as object), startTime: '1' }));
    expect((await bench.run(['serve', 'stop'])).stderr).toContain(
      `PID ${pid}, which the service had, is another process`,
    );
    writeFileSync(name, said);
    expect((await bench.run(['serve', 'stop', '--json'])).lines[0]).toMatchObject({ stopped: true });
    expect((await bench.run(['serve', 'stop', '--json'])).lines[0]).toMatchObject({ stopped: false });
  });

  it.each([
    ['prints nothing', 'exit 0', 'skipped', 'its command printed no objective'],
    ['fails', 'echo oh >&2; exit 3', 'failed', 'exited with 3: oh'],
  ])('has no run of a command that %s', async (_what, command, outcome, why) => {
    const bench = await benchFor([FROM], { notify: 'echo "$SQUAD_TEXT" >>called' });
    writeFileSync(join(bench.repository, 'next.sh'), `#!/bin/sh\n${command}\n`, { mode: 0o755 });
    await bench.serve();
    await until(
      () => (bench.record('next')?.left.length ?? 0) > 0,
      () => bench.log(),
    );
    expect(bench.record('next')?.left).toEqual([
      expect.objectContaining({ outcome, why: expect.stringContaining(why) }),
    ]);
    const shown = (await bench.run(['serve', 'status'])).stdout;
    expect(shown).toContain(`${outcome}: `);
    await until(
      () => bench.log().includes(`the slot is ${outcome}`),
      () => bench.log(),
    );
    if (outcome === 'failed') expect(readFileSync(join(bench.repository, 'called'), 'utf8')).toContain(why);
    expect(await bench.states()).toEqual({});
  });

  it('starts what a command prints, and nothing of a schedule that was changed since a person agreed to it', async () => {
    const other = { ...NIGHTLY, objective: 'steal all' };
    const bench = await benchFor([FROM, NIGHTLY]);
    writeFileSync(join(bench.repository, 'next.sh'), '#!/bin/sh\ncat objective.md\n', { mode: 0o755 });
    bench.schedule([FROM, other]);
    await bench.serve();
    await allDone(bench, 1);
    expect(Object.keys(await bench.states())[0]).toMatch(/^next-\d{6}-0200z$/);
    await until(
      () => (bench.record('nightly')?.left.length ?? 0) > 0,
      () => bench.log(),
    );
    expect(bench.record('nightly')?.left[0]?.why).toContain('you have not agreed to this schedule as it is now');
  });

  it('after a reboot, with its engine, every process and the runtime folder gone: each run continues once', async () => {
    const bench = await benchFor([NIGHTLY]);
    const gate = join(bench.root, 'gate');
    workAt(bench, gate);
    const runtime = { XDG_RUNTIME_DIR: join(bench.root, 'runtime') };
    const service = await bench.serve(runtime);
    await atWork(bench);
    const before = bench.record('nightly')?.started?.name ?? '';
    const added = await bench.run(['add', 'objective.md', '--name', 'added', '--after', before, '--yes']);
    expect(added.code, added.stderr).toBe(0);
    const engine = readLockHolder(stateOf(bench.repository))?.pid ?? 0;
    killAll([service, engine, ...bench.alive()]);
    rmSync(runtime.XDG_RUNTIME_DIR, { recursive: true, force: true });
    writeFileSync(gate, '');
    await bench.serve(runtime);
    await allDone(bench, 2);
    const ledger = bench.ledger();
    const completed = ledger
      .attempts({})
      .filter(({ id }) => ledger.settlement(id)?.result.outcome === 'completed')
      .map(({ runId, taskId, kind, agent }) => `${runId} ${taskId} ${kind} ${agent}`);
    ledger.close();
    expect(new Set(completed).size).toBe(completed.length);
  });

  it('outlives its engine, and starts another one', async () => {
    const bench = await benchFor([NIGHTLY]);
    const gate = join(bench.root, 'gate');
    bench.rescript([plan([piece('a')]), author('a', [waitFor(gate), ...commits({ 'a.txt': 'a\n' })]), APPROVE_ALL]);
    const service = await bench.serve();
    await until(
      () => bench.alive().length > 0,
      () => bench.log(),
    );
    process.kill(readLockHolder(stateOf(bench.repository))?.pid ?? 0, 'SIGKILL');
    writeFileSync(gate, '');
    await allDone(bench, 1);
    expect(bench.log()).toContain('the engine ended: exit by a signal');
    expect((await bench.run(['serve', 'status', '--json'])).lines[0]).toMatchObject({ service: { pid: service } });
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s stops it and its engine, says so, and loses nothing',
    async (signal) => {
      const bench = await benchFor([NIGHTLY]);
      const gate = join(bench.root, 'gate');
      workAt(bench, gate);
      const service = bench.start(['serve']);
      await atWork(bench);
      service.child.kill(signal);
      if (signal === 'SIGINT') writeFileSync(gate, '');
      const { code, stdout } = await service.finished;
      expect([code, stdout]).toEqual([0, expect.stringContaining(`${signal}: `)]);
      expect(bench.alive()).toEqual([]);
      writeFileSync(gate, '');
      await bench.serve();
      await allDone(bench, 1);
    },
  );
});
