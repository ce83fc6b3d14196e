// @module-tag all
import { spawn as spawnProcess, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { CancelStep, TurnSpawn } from '../../../../src/substrate/ports/processes.ts';
import { pidsOf, type InsidePid } from '../../../support/inside-pids.ts';
import { markedPids } from '../../../support/marked-pids.ts';
import { clock, createTurnBench, isRunning, never, processes, until, untilFile } from './turn-bench.ts';
import { allowedMs } from '../../../support/busy-machine.ts';

const bench = createTurnBench();
afterAll(() => bench.close());

const LADDER: readonly CancelStep[] = [
  { signal: 'SIGINT', waitMs: 400 },
  { signal: 'SIGTERM', waitMs: 400 },
  { signal: 'SIGKILL', waitMs: 400 },
];

async function startReady(spawn: TurnSpawn) {
  const held = await bench.start(spawn);
  const said = await untilFile(join(spawn.directory, 'stdout'), (text) => text.includes('\n'));
  return { identity: held.identity, said };
}

/** A process of its own session that has nothing to do with any turn. */
function startBystander(env: Record<string, string> = {}): number {
  const child = spawnProcess('/bin/sleep', ['120'], { detached: true, stdio: 'ignore', env });
  child.unref();
  return child.pid as number;
}

describe('ending a turn', { concurrent: true }, () => {
  test('an agent that heeds SIGINT ends by itself, and the ladder stops there', async () => {
    const spawn = bench.spawnOf('ends-on-sigint');
    const { identity } = await startReady(spawn);
    const startedAt = performance.now();
    const ladder: CancelStep[] = [
      { signal: 'SIGINT', waitMs: 10_000 },
      { signal: 'SIGKILL', waitMs: 10_000 },
    ];
    expect(await processes.endTurn(identity, spawn.directory, ladder)).toEqual([]);
    expect(performance.now() - startedAt).toBeLessThan(allowedMs(3000));
    expect(readFileSync(join(spawn.directory, 'stdout'), 'utf8')).toContain('interrupted');
    const ending = await processes.waitForEnding(identity, spawn.directory, never());
    expect(ending).toEqual({ type: 'exited', code: 0, signal: null });
  });

  test('an agent that ignores every polite signal hears each and is killed, and its end is on record', async () => {
    const spawn = bench.spawnOf('ignores-sigterm');
    const { identity } = await startReady(spawn);
    expect(await processes.endTurn(identity, spawn.directory, LADDER)).toEqual([]);
    expect(markedPids(spawn.marker)).toEqual([]);
    expect(readFileSync(join(spawn.directory, 'stdout'), 'utf8')).toBe('ready\nheard SIGINT\nheard SIGTERM\n');
    const ending = await processes.waitForEnding(identity, spawn.directory, never());
    expect(ending).toEqual({ type: 'exited', code: 137, signal: 'SIGKILL' });
  });

  test.each([
    ['stay', '3'],
    ['stay', '100'],
    ['scrub', '3'],
  ])(
    'deaf children in sessions of their own that hold stdout are ended (%s, %s of them), bystanders not',
    async (mode, count) => {
      const spawn = bench.spawnOf('forks-and-setsids', [mode, count]);
      const bystander = startBystander({ SQUAD_TURN_ID: `${spawn.marker}x` });
      const { identity, said } = await startReady(spawn);
      const children = pidsOf(JSON.parse(said) as InsidePid[]);
      expect(children.filter(isRunning)).toHaveLength(Number(count));
      const startedAt = performance.now();
      expect(await processes.endTurn(identity, spawn.directory, LADDER)).toEqual([]);
      expect(performance.now() - startedAt).toBeLessThan(allowedMs(10_000));
      expect(children.filter(isRunning)).toEqual([]);
      expect(markedPids(spawn.marker)).toEqual([]);
      expect(isRunning(bystander)).toBe(true);
      process.kill(bystander, 'SIGKILL');
    },
  );

  test('what starts processes without end is stopped', async () => {
    const spawn = bench.spawnOf('forks-in-a-chain');
    const { identity } = await startReady(spawn);
    await clock.sleep(300);
    expect(await processes.endTurn(identity, spawn.directory, [{ signal: 'SIGTERM', waitMs: 300 }])).toEqual([]);
    expect(markedPids(spawn.marker)).toEqual([]);
  });

  test('a turn that is still held back ends without its agent', async () => {
    const spawn = bench.spawnOf('ignores-sigterm');
    const held = await processes.spawnTurn(spawn);
    expect(await processes.endTurn(held.identity, spawn.directory, LADDER)).toEqual([]);
    expect(markedPids(spawn.marker)).toEqual([]);
  });

  test('after the wrapper was killed the agent is still ended', async () => {
    const spawn = bench.spawnOf('forks-and-setsids', ['stay', '2']);
    const { identity, said } = await startReady(spawn);
    const children = pidsOf(JSON.parse(said) as InsidePid[]);
    expect(children.filter(isRunning)).toHaveLength(2);
    process.kill(identity.pid, 'SIGKILL');
    await until(() => (isRunning(identity.pid) ? undefined : true));
    expect(await processes.endTurn(identity, spawn.directory, LADDER)).toEqual([]);
    expect(children.filter(isRunning)).toEqual([]);
    expect(markedPids(spawn.marker)).toEqual([]);
  });

  test('left-overs of a turn that has ended are asked before they are killed', async () => {
    const spawn = bench.spawnOf('forks-and-setsids', ['exit', '2']);
    const { identity, said } = await startReady(spawn);
    await processes.waitForEnding(identity, spawn.directory, never());
    expect(await processes.endTurn(identity, spawn.directory, LADDER)).toEqual([]);
    expect(pidsOf(JSON.parse(said) as InsidePid[])).toEqual([0, 0]);
  });

  test('a sweep needs the marker alone', async () => {
    const spawn = bench.spawnOf('forks-and-setsids', ['stay', '2']);
    const { said } = await startReady(spawn);
    const children = pidsOf(JSON.parse(said) as InsidePid[]);
    expect(children.filter(isRunning)).toHaveLength(2);
    expect(await processes.sweep(spawn.marker)).toEqual([]);
    expect(children.filter(isRunning)).toEqual([]);
    expect(await processes.sweep(spawn.marker)).toEqual([]);
  });
});

describe('a bystander with a pid of the turn', () => {
  test('is never signalled when its start time, boot id or marker differs', async () => {
    const marker = bench.marker();
    const pid = startBystander();
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const startTime = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] as string;
    const bootId = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const directory = bench.directory();
    for (const forged of [
      { startTime: String(Number(startTime) - 1), bootId },
      { startTime: '1', bootId },
      { startTime, bootId: 'another boot' },
    ]) {
      expect(await processes.endTurn({ pid, marker, ...forged }, directory, LADDER)).toEqual([]);
      expect(isRunning(pid)).toBe(true);
    }
    process.kill(pid, 'SIGKILL');
  });

  const canForce = canForcePids();
  test.skipIf(!canForce)(
    'is never signalled after the pid was really used again (needs ns_last_pid: root)',
    async () => {
      const ended = bench.spawnOf('exits-with', ['0']);
      const held = await bench.start(ended);
      await processes.waitForEnding(held.identity, ended.directory, never());
      await processes.endTurn(held.identity, ended.directory, []);

      // Node has to reap it before the kernel can give the number away.
      await until(() => (existsSync(`/proc/${held.identity.pid}`) ? undefined : true));
      const reused = await forcePid(held.identity.pid);
      expect(reused).toBe(held.identity.pid);
      expect(await processes.isAlive(held.identity)).toBe(false);
      const stale = await processes.waitForEnding(held.identity, bench.directory(), never());
      expect(stale).toEqual({ type: 'vanished' });
      expect(await processes.endTurn(held.identity, bench.directory(), LADDER)).toEqual([]);
      expect(isRunning(held.identity.pid)).toBe(true);
      process.kill(held.identity.pid, 'SIGKILL');
    },
  );
});

const LAST_PID = '/proc/sys/kernel/ns_last_pid';

function canForcePids(): boolean {
  try {
    writeFileSync(LAST_PID, readFileSync(LAST_PID, 'utf8').trim());
    return true;
  } catch {
    return false;
  }
}

/**
 * A new sleep, leader of its own session, with exactly this pid. Takes some tries: others fork too, and the number is not
 * free before the last zombie of the former group has been reaped.
 */
async function forcePid(pid: number): Promise<number | undefined> {
  const script = `printf %s ${pid - 1} >${LAST_PID}; setsid sleep 120 >/dev/null 2>&1 & echo $!`;
  const deadline = clock.monotonic() + 10_000;
  while (clock.monotonic() < deadline) {
    const made = Number(spawnSync('/bin/sh', ['-c', script], { env: { PATH: process.env['PATH'] } }).stdout.toString());
    if (made === pid) return made;
    process.kill(made, 'SIGKILL');
    await clock.sleep(20);
  }
  return undefined;
}
