import { spawn as spawnProcess } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import type { ProcessIdentity } from '../../../src/model/process-identity.ts';
import type { TurnSpawn } from '../../../src/substrate/ports/processes.ts';
import { markedPids } from '../../support/marked-pids.ts';
import { RUN_TYPESCRIPT, createTurnBench, never, processes, until, untilFile } from './turn-bench.ts';

const bench = createTurnBench();
afterAll(() => bench.close());

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

describe('with no engine alive', { concurrent: true, timeout: 40_000 }, () => {
  test('the wall limit ends a deaf agent and its deaf children in other sessions', async () => {
    const spawn = bench.spawnOf('forks-and-setsids', ['stay', '2'], { deadline: Date.now() + 2000 });
    const identity = await startAndKillEngine(spawn);
    const ending = await processes.waitForEnding(identity, spawn.directory, never());
    expect(ending).toEqual({ type: 'exited', code: 137, signal: 'SIGKILL', endedBy: 'wall' });
    await nothingAlive(spawn.marker);
  });

  test('the flood limit ends an agent, on time and on record', async () => {
    const drip = 'while :; do head -c 20000 /dev/zero; sleep 0.01; done';
    const command = { command: '/bin/sh', args: ['-c', drip] };
    const spawn = bench.spawnOf('', [], { ...command, maxOutputBytes: 1_000_000 });
    const identity = await startAndKillEngine(spawn);
    const ending = await processes.waitForEnding(identity, spawn.directory, never());
    expect(ending).toEqual({ type: 'exited', code: 143, signal: 'SIGTERM', endedBy: 'flood' });
    expect(statSync(join(spawn.directory, 'stdout')).size).toBeLessThan(50_000_000);
    await nothingAlive(spawn.marker);
  });

  test('an agent that ends by itself leaves nothing running', async () => {
    const spawn = bench.spawnOf('forks-and-setsids', ['exit', '1']);
    const identity = await startAndKillEngine(spawn);
    const ending = await processes.waitForEnding(identity, spawn.directory, never());
    expect(ending).toEqual({ type: 'exited', code: 0, signal: null });
    await nothingAlive(spawn.marker);
  });
});
