import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createTurnBench, isRunning, never, processes, until, untilFile } from './turn-bench.ts';
import { allowedMs } from '../../support/busy-machine.ts';

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
    rmSync(directory, { recursive: true });
    expect(await processes.waitForEnding(held.identity, directory, never())).toEqual({ type: 'vanished' });
  });
});
