import child, { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { parseStat } from '../../../../src/substrate/system/process/proc-source.ts';
import {
  identify,
  carriesMarker,
  identifyChild,
  insideTurn,
  PROCESS_SOURCES,
  readProcess,
  recentProcessTable,
  seeProcessesBy,
  sourceName,
} from '../../../../src/substrate/system/process/process-table.ts';
import { elapsedMs, environmentsIn, parseRows } from '../../../../src/substrate/system/process/ps-source.ts';
import { createSystemClock } from '../../../../src/substrate/system/clock/system-clock.ts';
import { createTurnBench, isRunning, processes, until } from './turn-bench.ts';
import { ALL } from '../../../support/lane.ts';

const bench = createTurnBench();
afterAll(() => bench.close());

const REST = '0 -1 4194560 105 0 0 0 0 0 0 0 20 0 1 0 168892 2592768 225 18446744073709551615';

describe('process table', () => {
  test('fields are counted after the last parenthesis of a name that holds some', () => {
    expect(parseStat(`42 (a) R 1 (b\n c)) S 7 8 9 ${REST}`)).toEqual({
      pid: 42,
      parent: 7,
      group: 8,
      session: 9,
      startTime: '168892',
    });
  });

  test.each(['Z', 'X'])('a process in state %s is no process', (state) => {
    expect(parseStat(`42 (sh) ${state} 7 8 9 ${REST}`)).toBeUndefined();
  });

  test.each(['', '42', '42 (sh) S 7', 'x (sh) S 1 1 1'])('text that is no stat line (%j) is no process', (text) => {
    expect(parseStat(text)).toBeUndefined();
  });
});

describe('rows of ps', () => {
  const FIRST = '    1     0     1 Ss   1-02:03:04 Sat Nov 28 06:19:08 2026';
  const row = (line: string, own = 99) => parseRows(`${FIRST}\n${line}\n`, own).get(42);

  test('have a start that no set clock moves, and an age', () => {
    expect(row('   42     7     8 S+        01:05 Sat Nov 28 06:19:18 2026')).toEqual({
      entry: { pid: 42, parent: 7, group: 8, session: 0, startTime: '10' },
      ageMs: 65_000,
    });
  });

  test.each([
    '   42     7     8 Z+        01:05 Sat Nov 28 06:19:18 2026',
    '   42     7     8 S+        01:05 some text',
    'x',
    '',
  ])('that are none: %j', (line) => expect(row(line)).toBeUndefined());

  test('have an environment behind the arguments, which may look like one', () => {
    const bare = ' 1 init\n42 sh -c A=1 SQUAD_TURN_ID=m\n43 old\n44 [kworker]\n';
    const full = ' 1 init HOME=/\n42 sh -c A=1 SQUAD_TURN_ID=m B=2\n43 new C=3\n44 [kworker]\n45 late D=4\n';
    expect([...environmentsIn(bare, full)]).toEqual([
      [1, 'HOME=/'],
      [42, 'B=2'],
      [44, ''],
    ]);
  });

  test('leave out the ps that printed them', () =>
    expect(row('   42     7     8 R  00:00 Sat Nov 28 06:19:18 2026', 42)).toBeUndefined());

  test.each([
    ['00:07', 7],
    ['11:00:01', 39_601],
    ['2-00:00:01', 172_801],
  ])('read %s as %d seconds', (text, seconds) => expect(elapsedMs(text)).toBe(seconds * 1000));
});

/** The pid of the last of so many shells, each started by the one before. */
async function startChain(length: number, env: Record<string, string>): Promise<number> {
  const script = 'if [ "$1" -gt 1 ]; then /bin/sh -c "$0" "$0" "$(($1 - 1))"; else echo $$; sleep 60; fi; exit';
  const first = spawn('/bin/sh', ['-c', script, script, String(length)], {
    ...{ env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] },
  });
  onTestFinished(() => void process.kill(-(first.pid ?? 0), 'SIGKILL'));
  const [line] = (await once(first.stdout, 'data')) as [Buffer];
  return Number(line.toString());
}

/** Counts questions to `ps` from now on. */
function countQuestions(): () => number {
  const asked = vi.spyOn(child, 'spawnSync');
  syncBuiltinESMExports();
  onTestFinished(() => {
    asked.mockRestore();
    syncBuiltinESMExports();
  });
  return () => asked.mock.calls.length;
}

/** Of a process that was just started. */
const identityOf = async (pid = 0, marker = '') => identifyChild(pid, marker, createSystemClock());

describe('what is asked of ps', () => {
  const before = sourceName;
  beforeAll(() => seeProcessesBy('ps'));
  afterAll(() => seeProcessesBy(before));

  test.each([
    ['a few', 3, {}, false],
    ['many', 30, {}, false],
    ['many, of which the first is marked', 30, { SQUAD_TURN_ID: 'greet.1-1' }, true],
    ['more than are looked at', 120, {}, true],
  ])('are all ancestors at once: %s', ALL, async (_, length, env, isInside) => {
    const pid = await startChain(length, env);
    const asked = countQuestions();
    expect(insideTurn({}, pid)).toBe(isInside);
    // Who they are, and with and without what they were started with.
    expect(asked()).toBeLessThanOrEqual(3);
  });

  test.each([0, 300])('is one question for the environments of all that were listed, %d ms ago', async (ms) => {
    const one = spawn('/bin/sleep', ['60'], { stdio: 'ignore' });
    await once(one, 'spawn');
    const listed = recentProcessTable(performance.now());
    process.kill(one.pid ?? 0, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, ms));
    const asked = countQuestions();
    for (const { pid } of listed) expect(carriesMarker(pid, 'greet.1-1', listed)).not.toBe(true);
    expect(asked()).toBe(2);
  });
});

/** On Linux with /proc, and as squad sees processes on a Mac. */
describe.each(PROCESS_SOURCES)('by %s', (source) => {
  const before = sourceName;
  beforeAll(() => seeProcessesBy(source));
  afterAll(() => seeProcessesBy(before));

  test('lists this process, its parent and not what never was', () => {
    const mine = recentProcessTable(performance.now()).find((entry) => entry.pid === process.pid);
    expect(mine?.parent).toBe(process.ppid);
    expect(readProcess(2 ** 22 + 1)).toBeUndefined();
  });

  test('a process named to look like several fields is read right', async () => {
    const script = "process.title = 'x) Z 1 1 1 ('; setInterval(() => {}, 1000); console.log('ready')";
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    expect(readProcess(child.pid as number)?.parent).toBe(process.pid);
    child.kill('SIGKILL');
  });

  describe('identity', () => {
    test(
      'names a process with its marker; another marker, even one it begins with, is another process',
      ALL,
      async () => {
        const marker = bench.marker();
        const child = spawn('/bin/sleep', ['60'], {
          env: { A: '1', SQUAD_TURN_ID: `${marker}-long`, B: '2' },
          stdio: 'ignore',
        });
        const pid = child.pid as number;
        const identity = await identityOf(pid, `${marker}-long`);
        if (identity === undefined) throw new Error('not identified');
        expect(carriesMarker(pid, `${marker}-long`)).toBe(true);
        for (const other of [marker, `${marker}-longer`, '']) expect(identify(pid, other)).toBeUndefined();
        expect(await processes.isAlive(identity)).toBe(true);
        for (const wrong of [{ startTime: '1' }, { bootId: 'other' }, { marker }, { pid: process.pid }]) {
          expect(await processes.isAlive({ ...identity, ...wrong })).toBe(false);
        }
        child.kill('SIGKILL');
        await until(() => (isRunning(pid) ? undefined : true));
        expect(await processes.isAlive(identity)).toBe(false);
      },
    );

    test('a helper that kept only its TMPDIR is known by the folder that is named like the marker', ALL, async () => {
      const marker = bench.marker();
      const start = (folder: string) =>
        spawn('/bin/sleep', ['60'], { env: { TMPDIR: folder }, stdio: 'ignore', detached: true });
      const [helper, stranger] = [start(`/turns/squad-${marker}/x`), start(`/turns/${marker}/x`)];
      try {
        expect(await identityOf(helper.pid, marker)).toBeDefined();
        expect(identify(stranger.pid ?? 0, marker)).toBeUndefined();
        expect(await processes.sweep(marker)).toEqual([]);
        expect(
          helper.signalCode ?? (await new Promise((resolve) => helper.once('exit', (_, name) => resolve(name)))),
        ).toBe('SIGKILL');
        expect(stranger.signalCode).toBeNull();
      } finally {
        stranger.kill('SIGKILL');
      }
    });

    test('a zombie is dead', async () => {
      const marker = bench.marker();
      // The shell becomes a sleep that never reaps the child it inherited.
      const script = 'sleep 60 & echo $!; exec sleep 60';
      const parent = spawn('/bin/sh', ['-c', script], {
        env: { SQUAD_TURN_ID: marker },
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      const pid = Number(await new Promise((resolve) => parent.stdout.once('data', resolve)));
      const identity = await identityOf(pid, marker);
      if (identity === undefined) throw new Error('not identified');
      process.kill(pid, 'SIGKILL');
      const state = () => /^State:\s+(\w)/m.exec(spawnSync('cat', [`/proc/${pid}/status`]).stdout.toString())?.[1];
      await until(() => (state() === 'Z' ? true : undefined));
      expect(await processes.isAlive(identity)).toBe(false);
      expect(identify(pid, marker)).toBeUndefined();
      parent.kill('SIGKILL');
    });
  });
});
