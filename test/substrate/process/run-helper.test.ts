import { afterAll, describe, expect, test } from 'vitest';
import { createTurnBench, fixture, isRunning, processes } from './turn-bench.ts';

const bench = createTurnBench();
afterAll(() => bench.close());

const run = (command: string, args: readonly string[], timeoutMs = 5000) =>
  processes.run(command, args, { env: { PATH: '/usr/bin:/bin' }, timeoutMs });
const shell = (script: string, timeoutMs?: number) => run('/bin/sh', ['-c', script], timeoutMs);

describe('running a helper', () => {
  test('gives its output and code, whatever the code', async () => {
    expect(await shell('echo out; echo err >&2; exit 3')).toEqual({ code: 3, stdout: 'out\n', stderr: 'err\n' });
  });

  test('has no stdin, the given environment and the given folder', async () => {
    const script = 'cat; echo "$A"; pwd';
    const options = { cwd: bench.root, env: { A: 'x', PATH: '/usr/bin:/bin' }, timeoutMs: 5000 };
    expect((await processes.run('/bin/sh', ['-c', script], options)).stdout).toBe(`x\n${bench.root}\n`);
  });

  test.each([
    ['a program that is not there', () => run('/no/such', []), /ENOENT/],
    ['an argument with a NUL', () => run('/bin/echo', ['a\0']), /null bytes/],
    [
      'a folder that is not there',
      () => processes.run('/bin/echo', [], { cwd: '/no', env: {}, timeoutMs: 99 }),
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
    expect(performance.now() - startedAt).toBeLessThan(2000);
    expect(answer.stdout.trim().split('\n').map(Number).filter(isRunning)).toEqual([]);
  });

  test('a grandchild in another session that holds the pipes does not delay it, and is ended', async () => {
    const startedAt = performance.now();
    const answer = await run(process.execPath, [fixture('forks-and-setsids'), 'exit', '1']);
    expect(answer.code).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(2000);
    expect((JSON.parse(answer.stdout) as number[]).filter(isRunning)).toEqual([]);
  });

  test('keeps the first MiB of a flood', async () => {
    const answer = await shell("head -c 5000000 /dev/zero | tr '\\0' x; echo end >&2");
    expect(answer).toMatchObject({ code: 0, stderr: 'end\n' });
    expect(answer.stdout.length).toBe(1024 * 1024);
  });
});
