import { spawn as spawnProcess, spawnSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import type { ProcessIdentity } from '../../../../src/model/process-identity.ts';
import type { TurnSpawn } from '../../../../src/substrate/ports/processes.ts';
import { killAll, markedPids } from '../../../support/marked-pids.ts';
import { RUN_TYPESCRIPT, clock, createTurnBench, never, processes, until, untilFile } from './turn-bench.ts';
import { ALL } from '../../../support/lane.ts';

const bench = createTurnBench();
const disk = join(bench.root, 'small-disk');
mkdirSync(disk);
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]).status === 0;
afterAll(async () => {
  // Here: the hooks of a group are not run when none of its tests is.
  if (mounted) spawnSync('umount', ['-l', disk]);
  await bench.close();
});

const ENGINE = fileURLToPath(new URL('./engine.ts', import.meta.url));

/** Starts the turn from an engine of its own and kills that engine as soon as the agent runs. */
async function startAndKillEngine(spawn: TurnSpawn): Promise<ProcessIdentity> {
  const engine = spawnProcess(process.execPath, [...RUN_TYPESCRIPT, ENGINE, JSON.stringify(spawn)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  engine.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await until(() => (said.includes('let go') ? true : undefined));
  await untilFile(join(spawn.directory, 'stdout'), (text) => text !== '');
  engine.kill('SIGKILL');
  return JSON.parse(said.split('\n')[0] ?? '') as ProcessIdentity;
}

/** Only read until the end: whatever ends, ends by itself. */
const nothingAlive = (marker: string) => until(() => (markedPids(marker).length === 0 ? true : undefined), 15_000);

describe('with no engine alive', { concurrent: true, timeout: 300_000 }, () => {
  test('the wall limit ends a deaf agent and its deaf children in other sessions', ALL, async () => {
    // Late enough for the agent to have begun, on a busy machine too.
    const spawn = bench.spawnOf('forks-and-setsids', ['stay', '2'], { wallMs: 5000 });
    const identity = await startAndKillEngine(spawn);
    const ending = await processes.waitForEnding(identity, spawn.directory, never());
    expect(ending).toEqual({ type: 'exited', code: 137, signal: 'SIGKILL', endedBy: 'wall' });
    await nothingAlive(spawn.marker);
  });

  test('the flood limit ends an agent, on time and on record', ALL, async () => {
    const drip = 'while :; do head -c 20000 /dev/zero; sleep 0.01; done';
    const command = { command: '/bin/sh', args: ['-c', drip] };
    const spawn = bench.spawnOf('', [], { ...command, maxOutputBytes: 1_000_000 });
    const identity = await startAndKillEngine(spawn);
    const ending = await processes.waitForEnding(identity, spawn.directory, never());
    expect(ending).toEqual({ type: 'exited', code: 143, signal: 'SIGTERM', endedBy: 'flood' });
    expect(statSync(join(spawn.directory, 'stdout')).size).toBeLessThan(50_000_000);
    await nothingAlive(spawn.marker);
  });

  test('an agent that ends by itself leaves nothing running', ALL, async () => {
    const spawn = bench.spawnOf('forks-and-setsids', ['exit', '1']);
    const identity = await startAndKillEngine(spawn);
    const ending = await processes.waitForEnding(identity, spawn.directory, never());
    expect(ending).toEqual({ type: 'exited', code: 0, signal: null });
    await nothingAlive(spawn.marker);
  });
});

describe('a wrapper killed at any instant', { timeout: 300_000 }, () => {
  test('leaves a turn with one clear ending and nothing running', ALL, async () => {
    const seen = new Set<string>();
    for (let round = 0; round < 40; round += 1) {
      const spawn = bench.spawnOf('', [], { command: '/bin/sh', args: ['-c', 'echo out; exit 5'] });
      const held = await processes.spawnTurn(spawn);
      await held.go();
      await clock.sleep((round % 20) * 1.5);
      // At once, because to look at it may take longer than it lives.
      killAll([held.identity.pid]);
      const ending = await processes.waitForEnding(held.identity, spawn.directory, never());
      if (ending?.type === 'exited') expect(ending).toEqual({ type: 'exited', code: 5, signal: null });
      seen.add(ending?.type ?? 'none');
      expect(await processes.endTurn(held.identity, spawn.directory, [])).toEqual([]);
      expect(markedPids(spawn.marker)).toEqual([]);
    }
    expect([...seen]).toContain('vanished');
  });
});

describe('on a full disk', () => {
  test.skipIf(!mounted)('the exit status is still recorded (needs to mount a tmpfs: root)', async () => {
    const script = 'while printf %01024d 0; do :; done; exit 9';
    const spawn = bench.spawnOf('', [], { command: '/bin/sh', args: ['-c', script], directory: disk });
    const held = await bench.start(spawn);
    const ending = await processes.waitForEnding(held.identity, disk, AbortSignal.timeout(10_000));
    expect(ending).toEqual({ type: 'exited', code: 9, signal: null });
    expect(statSync(join(disk, 'stdout')).size).toBeGreaterThan(30_000);
  });
});
