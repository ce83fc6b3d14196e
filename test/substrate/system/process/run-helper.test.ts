import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runChild } from '../../../../src/substrate/system/process/run-child.mjs';
import { startHelperHost, type HelperHost, runHelper } from '../../../../src/substrate/system/process/run-helper.ts';
import { createSystemProcesses } from '../../../../src/substrate/system/process/system-processes.ts';
import { clock, createTurnBench, fixture, isRunning, RUN_TYPESCRIPT, until } from './turn-bench.ts';
import { helperHostsIn, killAll } from '../../../support/marked-pids.ts';
import { allowedMs } from '../../../support/busy-machine.ts';
import { ALL } from '../../../support/lane.ts';

const bench = createTurnBench();
afterAll(() => bench.close());

const env = { PATH: process.env['PATH'] ?? '' };
let host: HelperHost | undefined;
beforeAll(async () => {
  host = startHelperHost(bench.root, () => undefined);
  await host.started;
});

test('an output that came in time is read, however long this process stood still', async () => {
  const args = ['-c', '(sleep 0.05; echo late) & exit 0'];
  const running = runChild({ command: '/bin/sh', args, cwd: bench.root, env, timeoutMs: 5000 });
  // The program has exited by then, and prints while nothing is read.
  await new Promise((resolve) => setTimeout(resolve, 25));
  // From here on, timers come before what the pipes have.
  await new Promise((resolve) => setImmediate(resolve));
  const until = performance.now() + 500;
  while (performance.now() < until);
  expect(await running).toMatchObject({ code: 0, stdout: 'late\n' });
});

describe.each([
  ['by the engine', runChild],
  ['by its host', async (request: Parameters<typeof runChild>[0]) => host?.run(request) ?? expect.fail('no host')],
])('running a helper %s', (_way, way) => {
  const run = (command: string, args: readonly string[], timeoutMs = 5000) =>
    runHelper(way, command, args, { cwd: bench.root, env, timeoutMs }, clock);
  const shell = (script: string, timeoutMs?: number) => run('/bin/sh', ['-c', script], timeoutMs);

  test('gives its output and code, whatever the code', async () => {
    expect(await shell('echo out; echo err >&2; exit 3')).toEqual({ code: 3, stdout: 'out\n', stderr: 'err\n' });
  });

  test('has no stdin, the given environment and the given folder', async () => {
    const script = 'cat; echo "$A"; pwd';
    const options = { cwd: bench.root, env: { A: 'x', ...env }, timeoutMs: 5000 };
    const { stdout } = await runHelper(way, '/bin/sh', ['-c', script], options, clock);
    expect(stdout).toBe(`x\n${bench.root}\n`);
  });

  test.each([
    ['a program that is not there', () => run('/no/such', []), /ENOENT/],
    ['an argument with a NUL', () => run('/bin/echo', ['a\0']), /null bytes/],
    [
      'a folder that is not there',
      () => runHelper(way, '/bin/echo', [], { cwd: '/no', env: {}, timeoutMs: 99 }, clock),
      /ENOENT/,
    ],
    ['a death by signal', () => shell('kill -9 $$'), /SIGKILL/],
  ])('%s is a problem, not an exception', async (_name, attempt, problem) => {
    const answer = await attempt();
    expect(answer.code).toBeNull();
    expect(answer.problem).toMatch(problem);
  });

  test('past its time it is killed with its group, and what it said is kept', async () => {
    const startedAt = performance.now();
    const answer = await shell("trap '' TERM; echo $$; sleep 60 & echo $!; sleep 60", 300);
    expect(answer.problem).toMatch(/300 ms/);
    expect(performance.now() - startedAt).toBeLessThan(allowedMs(2000));
    // The kernel ends a killed process a moment later.
    const pids = answer.stdout.trim().split('\n').map(Number);
    expect(pids).toHaveLength(2);
    await until(() => !pids.some(isRunning) || undefined);
  });

  test('a grandchild in another session that holds the pipes does not delay it, and is ended', async () => {
    const startedAt = performance.now();
    const answer = await run(process.execPath, [fixture('forks-and-setsids'), 'exit', '1']);
    expect(answer.code).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(allowedMs(2000));
    expect((JSON.parse(answer.stdout) as number[]).filter(isRunning)).toEqual([]);
  });

  test('keeps the first MiB of a flood', async () => {
    const answer = await shell("head -c 5000000 /dev/zero | tr '\\0' x; echo end >&2");
    expect(answer).toMatchObject({ code: 0, stderr: 'end\n' });
    expect(answer.stdout.length).toBe(1024 * 1024);
  });
});

describe('the host of helpers', () => {
  const marked = { ...env, TMPDIR: bench.root };

  test('comes after a few calls of a series, and stands in for none that it did not get', async () => {
    const temporary = bench.directory();
    const { run } = createSystemProcesses({ clock });
    const parents = new Set<string>();
    const call = async () => {
      const options = { kind: 'check', cwd: bench.root, env: { ...env, TMPDIR: temporary }, timeoutMs: 5000 } as const;
      parents.add((await run('/bin/sh', ['-c', 'echo $PPID'], options)).stdout.trim());
    };
    for (let calls = 1; calls <= 6; calls += 1) await call();
    expect([...parents]).toEqual([String(process.pid)]);
    expect(helperHostsIn(temporary)).toEqual([]);
    await call();
    const [pid] = await until(() => (helperHostsIn(temporary).length > 0 ? helperHostsIn(temporary) : undefined));
    while (!parents.has(String(pid))) await call();
    process.kill(pid ?? NaN, 'SIGKILL');
    await until(() => (helperHostsIn(temporary).length === 0 ? true : undefined));
    // A call may be lost with it until this process has heard of its end.
    do {
      parents.clear();
      await call();
    } while (parents.has(''));
    expect([...parents]).toEqual([String(process.pid)]);
  });

  test('that dies takes with it what it runs, which is told as a problem', async () => {
    const temporary = bench.directory();
    const own = startHelperHost(temporary, () => undefined);
    await own.started;
    const way = async (request: Parameters<typeof runChild>[0]) => own.run(request) ?? expect.fail('no host');
    const pidFile = join(temporary, 'pid');
    const options = { cwd: bench.root, env: marked, timeoutMs: 60_000 };
    const answer = runHelper(way, '/bin/sh', ['-c', `echo $$ >${pidFile}; sleep 60`], options, clock);
    const helper = await until(() => readNumber(pidFile));
    killAll(helperHostsIn(temporary));
    expect((await answer).problem).toMatch(/ended/);
    expect(isRunning(helper)).toBe(false);
  });

  test.each(['SIGKILL', 'an end of its own'])(
    'ends with its engine, by %s, and leaves a helper at its work',
    ALL,
    async (how) => {
      const temporary = bench.directory();
      const program = fileURLToPath(new URL('hosting-engine.ts', import.meta.url));
      const engine = spawn(process.execPath, [...RUN_TYPESCRIPT, program, temporary, how], { stdio: 'inherit' });
      const ended = new Promise((resolve) => engine.once('exit', resolve));
      const pidFile = join(temporary, 'pid');
      const helper = await until(() => readNumber(pidFile));
      // As a terminal would, and then for good.
      for (const pid of helperHostsIn(temporary)) process.kill(pid, 'SIGINT');
      await clock.sleep(50);
      expect(helperHostsIn(temporary)).toHaveLength(1);
      if (how === 'SIGKILL') engine.kill('SIGKILL');
      await ended;
      await until(() => (helperHostsIn(temporary).length === 0 ? true : undefined), 2000);
      expect(isRunning(helper)).toBe(true);
      process.kill(helper, 'SIGKILL');
    },
  );
});

function readNumber(path: string): number | undefined {
  try {
    const text = readFileSync(path, 'utf8');
    return text.endsWith('\n') ? Number(text) : undefined;
  } catch {
    return undefined;
  }
}
