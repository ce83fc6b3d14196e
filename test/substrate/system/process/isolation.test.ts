// @module-tag all
import { spawn as spawnProcess } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import type { ProcessIdentity } from '../../../../src/model/process-identity.ts';
import type { TurnSpawn } from '../../../../src/substrate/ports/processes.ts';
import { createIsolation } from '../../../../src/substrate/system/process/isolation.ts';
import { spawnTurn } from '../../../../src/substrate/system/process/spawn-turn.ts';
import { pidsOf, type InsidePid } from '../../../support/inside-pids.ts';
import { markedPids } from '../../../support/marked-pids.ts';
import { processTree } from '../../../support/process-usage.ts';
import { clock, createTurnBench, isRunning, never, processes, until, untilFile } from './turn-bench.ts';

const bench = createTurnBench();
afterAll(() => bench.close());

const machine = await processes.isolation();
const ENGINE = fileURLToPath(new URL('./engine.ts', import.meta.url));
const strangersOf = (said: string): number[] => pidsOf(JSON.parse(said.split('\n')[0] ?? '') as InsidePid[]);

async function startStrangers(mode: string, more: Partial<TurnSpawn> = {}) {
  const spawn = bench.spawnOf('forks-and-setsids', [mode, '2'], more);
  const { identity } = await bench.start(spawn);
  const said = await untilFile(join(spawn.directory, 'stdout'), (text) => text.includes('\n'));
  return { spawn, identity, said };
}

describe.skipIf(machine.type === 'none')(
  'a process that nothing leads back to its turn (needs a PID namespace)',
  () => {
    test('ends with a turn that ends by itself, before that is on record', async () => {
      const { spawn, identity, said } = await startStrangers('strange-exit');
      const ending = await processes.waitForEnding(identity, spawn.directory, never());
      expect(ending).toEqual({ type: 'exited', code: 0, signal: null });
      expect(strangersOf(said)).toEqual([0, 0]);
    });

    test('ends with a turn that is ended', async () => {
      const { spawn, identity, said } = await startStrangers('strange');
      const strangers = strangersOf(said);
      expect(strangers.filter(isRunning)).toHaveLength(2);
      expect(markedPids(spawn.marker)).not.toEqual(expect.arrayContaining(strangers));
      expect(await processes.endTurn(identity, spawn.directory, [{ signal: 'SIGTERM', waitMs: 100 }])).toEqual([]);
      expect(strangers.filter(isRunning)).toEqual([]);
    });

    test('ends at the wall limit, with no engine alive', async () => {
      const { spawn, identity, said } = await startStrangers('strange', { wallMs: 2000 });
      const strangers = strangersOf(said);
      // Only looked at from here on: what ends, ends by itself.
      const ending = await processes.waitForEnding(identity, spawn.directory, never());
      expect(ending).toMatchObject({ type: 'exited', endedBy: 'wall' });
      // The wrapper records the exit first and then clears out the rest, itself last; the kernel takes a moment.
      await until(() => strangers.filter(isRunning).length === 0 || undefined);
      await until(() => markedPids(spawn.marker).length === 0 || undefined);
    });

    test.each([
      ['its wrapper', 0],
      ['what made its namespace', 1],
    ])('ends when %s was killed and the turn is swept', async (_, generation) => {
      const { spawn, identity, said } = await startStrangers('strange');
      const strangers = strangersOf(said);
      const maker = processTree(identity.pid).find((pid) => commandOf(pid).startsWith('unshare'));
      process.kill([identity.pid, maker!][generation]!, 'SIGKILL');
      expect(await processes.sweep(spawn.marker)).toEqual([]);
      // The kernel ends what was in the namespace, one process after the other.
      await until(() => strangers.filter(isRunning).length === 0 || undefined);
    });
  },
);

describe.skipIf(machine.type === 'none')('a turn in a PID namespace (needs one)', () => {
  test('lets what is left end by itself', async () => {
    const script = `sh -c 'trap "echo bye; exit" TERM; echo ready; while :; do sleep 0.05; done' & sleep 0.3`;
    const spawn = bench.spawnOf('', [], { command: '/bin/sh', args: ['-c', script] });
    const { ending, stdout } = await bench.finish(spawn);
    expect(ending).toEqual({ type: 'exited', code: 0, signal: null });
    expect(stdout.toString()).toBe('ready\nbye\n');
  });

  test('adds nothing to what a killed program printed', async () => {
    const spawn = bench.spawnOf('', [], { command: '/bin/sh', args: ['-c', 'kill -9 $$'] });
    expect(await bench.finish(spawn)).toMatchObject({ ending: { code: 137, signal: 'SIGKILL' }, stderr: '' });
  });

  test('shows itself alone in /proc, and its pids are not those of another turn', async () => {
    const script = 'echo $$; [ -e /proc/$$/stat ] && ls /proc | grep -c "^[0-9]"';
    const said = await Promise.all(
      [1, 2].map(async () => {
        const { stdout } = await bench.finish(bench.spawnOf('', [], { command: '/bin/sh', args: ['-c', script] }));
        return stdout.toString().split('\n');
      }),
    );
    expect(said[0]?.[0]).not.toBe(said[1]?.[0]);
    // Process 1, the shell, and what it pipes.
    for (const [, processCount] of said) expect(Number(processCount)).toBeLessThanOrEqual(4);
  });

  test('is known from inside, also by what nothing else leads back to it', async () => {
    const module = new URL('../../../../src/substrate/system/process/process-table.ts', import.meta.url).pathname;
    const program = `import('${module}').then((m) => console.log(m.insideTurn({}, process.pid)))`;
    // Its parent is gone before it can ask.
    const script = `sh -c 'env -i setsid "$0" --experimental-strip-types --no-warnings -e "$1" &' "$0" "$1"; sleep 60`;
    const command = { command: '/bin/sh', args: ['-c', script, process.execPath, program] };
    const spawn = bench.spawnOf('', [], command);
    const { identity } = await bench.start(spawn);
    const said = await untilFile(join(spawn.directory, 'stdout'), (text) => text.trim() !== '');
    await processes.endTurn(identity, spawn.directory, []);
    expect(said.trim()).toBe('true');
  });

  test('has System V memory and queues of its own, and a command of the person’s has theirs', async () => {
    const outside = readlinkSync('/proc/self/ns/ipc');
    const inside = async (keepsUser: boolean): Promise<string> => {
      const command = { command: '/bin/sh', args: ['-c', 'readlink /proc/self/ns/ipc'], keepsUser };
      return (await bench.finish(bench.spawnOf('', [], command))).stdout.toString().trim();
    };
    const [ofAgent, ofPerson] = [await inside(false), await inside(true)];
    expect(ofAgent).toMatch(/^ipc:\[\d+\]$/);
    expect([ofAgent === outside, ofPerson === outside]).toEqual([false, true]);
  });

  test('cannot reach a process outside by its pid', async () => {
    const { pid = 0, ...outsider } = spawnProcess('/bin/sleep', ['60'], { stdio: 'ignore' });
    onTestFinished(() => void process.kill(pid, 'SIGKILL'));
    expect(outsider).toBeDefined();
    await bench.finish(bench.spawnOf('', [], { command: '/bin/sh', args: ['-c', `kill -9 ${pid}`] }));
    expect(isRunning(pid)).toBe(true);
  });
});

describe('without a PID namespace', () => {
  test('a machine says why, and turns run all the same', async () => {
    const isolation = await createIsolation([bench.root])();
    expect(isolation.says).toEqual({ type: 'none', why: 'unshare, of util-linux, is not installed' });
    const spawn = bench.spawnOf('exits-with', ['7']);
    const held = await spawnTurn(spawn, isolation.before({ keepsUser: false }), clock);
    await held.go();
    const ending = await processes.waitForEnding(held.identity, spawn.directory, never());
    expect(ending).toEqual({ type: 'exited', code: 7, signal: null });
    expect(await processes.endTurn(held.identity, spawn.directory, [])).toEqual([]);
  });

  test('a tool that does not do what it says is not used', async () => {
    const folder = bench.directory();
    symlinkSync('/bin/true', join(folder, 'unshare'));
    expect((await createIsolation([folder])()).says).toEqual({ type: 'none', why: expect.stringMatching(/\S/) });
  });
});

/** Any that no file here belongs to. */
const USER = 65_534;

describe.skipIf(process.getuid?.() !== 0)('as a user who is not root (needs root, to become one)', () => {
  test('turns have a namespace of their own, or it is said why not; a check stays the user', async () => {
    const root = mkdtempSync(join(tmpdir(), 'squad-user-'));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    chmodSync(root, 0o755);
    const turns = ['turn', 'check'].map((name) => {
      const directory = mkdtempSync(join(root, `${name}-`));
      chownSync(directory, USER, USER);
      return { ...bench.spawnOf('forks-and-setsids', ['strange', '1']), directory, keepsUser: name === 'check' };
    });
    for (const spawn of turns) {
      const engine = spawnProcess(
        process.execPath,
        ['--experimental-strip-types', ENGINE, JSON.stringify({ ...spawn, cwd: root })],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
          uid: USER,
          gid: USER,
          env: { PATH: process.env['PATH'], HOME: root },
        },
      );
      let said = '';
      engine.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
      const identity = await until(() =>
        said.includes('let go') ? (JSON.parse(said.split('\n')[0]!) as ProcessIdentity) : undefined,
      );
      const printed = await untilFile(join(spawn.directory, 'stdout'), (text) => text.includes('\n'));
      const strangers = strangersOf(printed);
      const [{ namespace }] = JSON.parse(printed.split('\n')[0]!) as [InsidePid];
      expect(strangers.filter(isRunning)).toHaveLength(1);
      engine.kill('SIGKILL');
      expect(await processes.endTurn(identity, spawn.directory, [{ signal: 'SIGTERM', waitMs: 100 }])).toEqual([]);
      const isOutside = namespace === readlinkSync('/proc/self/ns/pid');
      if (spawn.keepsUser) expect(isOutside).toBe(true);
      if (isOutside) strangers.filter(isRunning).forEach((pid) => process.kill(pid, 'SIGKILL'));
      // The kernel ends what was in the namespace, a moment after its first process.
      else await until(() => strangers.filter(isRunning).length === 0 || undefined);
    }
  });
});

function commandOf(pid: number): string {
  const path = `/proc/${pid}/cmdline`;
  return existsSync(path) ? (readFileSync(path, 'utf8').split('\0')[0]?.split('/').at(-1) ?? '') : '';
}
