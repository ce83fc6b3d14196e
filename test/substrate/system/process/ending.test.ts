import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { waitForEnding } from '../../../../src/substrate/system/process/ending.ts';
import type { Clock } from '../../../../src/substrate/ports/clock.ts';
import { clock, createTurnBench, isRunning, never, processes, until, untilFile } from './turn-bench.ts';
import { allowedMs } from '../../../support/busy-machine.ts';

const bench = createTurnBench();
afterAll(() => bench.close());

describe('the ending of a turn', () => {
  test.each([
    ['exits-with', '0', { type: 'exited', code: 0, signal: null }],
    ['exits-with', '3', { type: 'exited', code: 3, signal: null }],
    ['dies-by-signal', 'SIGKILL', { type: 'exited', code: 137, signal: 'SIGKILL' }],
    ['dies-by-signal', 'SIGTERM', { type: 'exited', code: 143, signal: 'SIGTERM' }],
  ])('%s %s', async (agent, argument, ending) => {
    expect((await bench.finish(bench.spawnOf(agent, [argument]))).ending).toEqual(ending);
  });

  test('a grandchild that holds stdout does not delay it', async () => {
    const startedAt = performance.now();
    const { ending } = await bench.finish(bench.spawnOf('forks-and-setsids', ['exit']));
    expect(ending).toEqual({ type: 'exited', code: 0, signal: null });
    expect(performance.now() - startedAt).toBeLessThan(allowedMs(4000));
  });

  test('a wrapper killed before it could record leaves a turn that vanished', async () => {
    const spawn = bench.spawnOf('ignores-sigterm');
    const held = await bench.start(spawn);
    await untilFile(join(spawn.directory, 'stdout'), (text) => text.includes('ready'));
    process.kill(held.identity.pid, 'SIGKILL');
    expect(await processes.waitForEnding(held.identity, spawn.directory, never())).toEqual({ type: 'vanished' });
    writeFileSync(join(spawn.directory, 'ended-by'), 'wall\n');
    const again = await processes.waitForEnding(held.identity, spawn.directory, never());
    expect(again).toEqual({ type: 'vanished', endedBy: 'wall' });
    expect(await processes.endTurn(held.identity, spawn.directory, [])).toEqual([]);
  });

  test('an exit file that a power cut left empty or torn is no ending', async () => {
    const spawn = bench.spawnOf('exits-with', ['0']);
    await bench.finish(spawn);
    const gone = { pid: 2 ** 22 + 1, startTime: '1', bootId: 'earlier', marker: spawn.marker };
    for (const text of ['', '\0\0\0\0', 'never', '12345', '0x1f']) {
      writeFileSync(join(spawn.directory, 'exit'), text);
      const ending = await processes.waitForEnding(gone, spawn.directory, never());
      expect(ending, JSON.stringify(text)).toEqual({ type: 'vanished' });
    }
  });

  test.each(['exit', 'ended-by'])('a pipe or a folder in the place of `%s` is read by no one', async (name) => {
    const directory = bench.spawnOf('exits-with', ['0']).directory;
    mkdirSync(directory, { recursive: true });
    const gone = { pid: 2 ** 22 + 1, startTime: '1', bootId: 'earlier', marker: 'pipe-1' };
    for (const make of [(path: string) => spawnSync('mkfifo', [path]), (path: string) => mkdirSync(path)]) {
      make(join(directory, name));
      expect(await processes.waitForEnding(gone, directory, never())).toEqual({ type: 'vanished' });
      rmSync(join(directory, name), { recursive: true });
    }
  });

  test('an exit file that appears just after the wrapper is gone still counts', async () => {
    const spawn = bench.spawnOf('exits-with', ['4']);
    const held = await bench.start(spawn);
    await untilFile(join(spawn.directory, 'exit'), () => true);
    await until(() => (isRunning(held.identity.pid) ? undefined : true));
    renameSync(join(spawn.directory, 'exit'), join(spawn.directory, 'late'));
    setTimeout(() => renameSync(join(spawn.directory, 'late'), join(spawn.directory, 'exit')), 40);
    const ending = await processes.waitForEnding(held.identity, spawn.directory, never());
    expect(ending).toEqual({ type: 'exited', code: 4, signal: null });
  });

  test('is not waited for once the signal has aborted', async () => {
    const spawn = bench.spawnOf('exits-with', ['0', '60000']);
    const held = await bench.start(spawn);
    expect(await processes.waitForEnding(held.identity, spawn.directory, AbortSignal.timeout(100))).toBeUndefined();
    expect(await processes.waitForEnding(held.identity, spawn.directory, AbortSignal.abort())).toBeUndefined();
    expect(await processes.endTurn(held.identity, spawn.directory, [])).toEqual([]);
  });

  test('a turn whose folder was removed vanishes once its wrapper is gone', async () => {
    const directory = join(bench.root, 'removed');
    mkdirSync(directory);
    const spawn = bench.spawnOf('exits-with', ['0', '200'], { directory });
    const held = await bench.start(spawn);
    await untilFile(join(directory, 'stdout'), () => true);
    rmSync(directory, { recursive: true, maxRetries: 5 });
    expect(await processes.waitForEnding(held.identity, directory, never())).toEqual({ type: 'vanished' });
  });
});

describe('how the ending is found', () => {
  /** A poll that never comes: whoever waits is woken by something else. */
  const noPoll: Clock = { ...clock, sleep: (_ms, signal) => (signal === undefined ? clock.sleep(0) : aborted(signal)) };
  const agent = { command: '/bin/sh', args: ['-c', 'read -r line; exit 3'] };
  /** Ends when its prompt, a FIFO here, is written. */
  async function startHeld() {
    const spawn = bench.spawnOf('', [], agent);
    const held = await processes.spawnTurn(spawn);
    const prompt = join(spawn.directory, 'prompt');
    rmSync(prompt);
    expect(spawnSync('mkfifo', [prompt]).status).toBe(0);
    await held.go();
    await untilFile(join(spawn.directory, 'exit.tmp'), (text) => text.includes('reserved'));
    return { ...spawn, identity: held.identity, end: () => writeFileSync(prompt, 'go\n') };
  }

  test('by a watch, without a poll', async () => {
    const { identity, directory, end } = await startHeld();
    const found = waitForEnding(identity, directory, never(), noPoll);
    // Not before the first look is over.
    await clock.sleep(200);
    end();
    expect(await found).toMatchObject({ type: 'exited', code: 3 });
    expect(await processes.endTurn(identity, directory, [])).toEqual([]);
  });

  test.each(['removed', 'renamed'])('by the poll where the watched file was %s by others', async (how) => {
    const { identity, directory, end } = await startHeld();
    const found = waitForEnding(identity, directory, never(), clock);
    await clock.sleep(200);
    const watched = join(directory, 'exit.tmp');
    if (how === 'removed') rmSync(watched);
    else renameSync(watched, `${watched}.other`);
    end();
    expect(await found).toMatchObject({ type: 'exited', code: 3 });
    expect(await processes.endTurn(identity, directory, [])).toEqual([]);
  });

  test('by the poll where there is nothing to watch', async () => {
    const { identity, directory, end } = await startHeld();
    rmSync(join(directory, 'exit.tmp'));
    const found = waitForEnding(identity, directory, never(), clock);
    end();
    expect(await found).toMatchObject({ type: 'exited', code: 3 });
    expect(await processes.endTurn(identity, directory, [])).toEqual([]);
  });

  test('a link in the place of the watched file leaves what it points to as it is', async () => {
    const { identity, directory, end } = await startHeld();
    const target = join(bench.directory(), 'target');
    writeFileSync(target, '', { mode: 0o644 });
    utimesSync(target, 1, 1);
    const { ctimeMs } = statSync(target);
    rmSync(join(directory, 'exit.tmp'));
    symlinkSync(target, join(directory, 'exit.tmp'));
    const stop = new AbortController();
    const found = waitForEnding(identity, directory, stop.signal, clock);
    await clock.sleep(100);
    stop.abort();
    expect(await found).toBeUndefined();
    expect(statSync(target).ctimeMs).toBe(ctimeMs);
    end();
    await processes.endTurn(identity, directory, []);
  });
});

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
