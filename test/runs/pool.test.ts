import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { git } from '../support/git.ts';
import { machinesRoot, openMachineAt, until, type TestMachine } from '../support/pool-machines.ts';
import { startPostgres, whyNoPostgres, type TestPostgres } from '../support/postgres.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan, waitFor, type Entry } from './run-script.ts';

const RUN = 'make-things';
const TIMEOUT = 180_000;

let postgres: TestPostgres;

/** A submitter’s checkout with a remote, and machines that share nothing else with it. */
interface PoolBench {
  readonly bench: RunBench;
  readonly remote: string;
  readonly submitter: TestMachine;
  machine(name: string): TestMachine;
  /** What was really done, in its order. */
  effects(): string[];
  submit(more?: readonly string[]): Promise<void>;
  run(): Promise<Record<string, unknown> | undefined>;
  ended(): Promise<Record<string, unknown>>;
}

async function openPoolBench(
  test: TestContext,
  database: string,
  script: (effect: (name: string) => Entry['steps'][number], root: string) => readonly Entry[],
  settings: Readonly<Record<string, unknown>> = {},
): Promise<PoolBench> {
  const root = machinesRoot();
  const effects = join(root, 'effects');
  writeFileSync(effects, '');
  const effect = (name: string) => ({ run: ['sh', '-c', `echo ${name} >>'${effects}'`] });
  const bench = openRunBench({ script: script(effect, root), settings });
  const remote = join(root, 'remote.git');
  execFileSync('git', ['init', '-q', '--bare', '-b', 'main', remote]);
  git(bench.repository, 'remote', 'add', 'origin', remote);
  git(bench.repository, 'push', '-q', 'origin', 'main');
  const pool = await postgres.url(database);
  const machines: TestMachine[] = [];
  const machine = (name: string): TestMachine => {
    const made = openMachineAt(root, name, pool);
    machines.push(made);
    return made;
  };
  const submitter = machine('ann');
  test.onTestFinished(() => {
    for (const one of machines) one.lose();
    bench.close();
    rmSync(root, { recursive: true, force: true });
  });
  const run: PoolBench['run'] = async () => {
    const { lines } = await submitter.run(['pool', '--json']);
    return (lines[0]?.['runs'] as Record<string, unknown>[] | undefined)?.find(({ name }) => name === RUN);
  };
  return {
    ...{ bench, remote, submitter, machine, run },
    effects: () => readFileSync(effects, 'utf8').split('\n').slice(0, -1),
    submit: async (more = []) => {
      const flags = ['--runtime', 'scripted', '--yes', '--json', ...more];
      const submitted = await submitter.run(['submit', 'objective.md', ...flags], bench.repository);
      expect(submitted.code, submitted.stderr).toBe(0);
    },
    ended: async () =>
      until('the end of the run', async () => {
        const found = await run();
        return found?.['state'] === 'over' ? found : undefined;
      }),
  };
}

/** A machine on which a person has allowed the run, with its worker. */
async function startWorker(bench: PoolBench, name: string, more: readonly string[] = []) {
  const machine = bench.machine(name);
  const allowed = await machine.run(['worker', 'allow', RUN, '--yes']);
  expect(allowed.code, allowed.stderr).toBe(0);
  return { machine, ...machine.worker(more) };
}

const skip = whyNoPostgres();

describe.skipIf(skip !== undefined)(`a pool${skip === undefined ? '' : `: ${skip}`}`, () => {
  beforeAll(async () => {
    postgres = await startPostgres();
  }, 60_000);
  afterAll(() => postgres?.close());

  it(
    'runs on another machine what was submitted on one, which then takes the work',
    { timeout: TIMEOUT },
    async (test) => {
      const pool = await openPoolBench(test, 'delivers', (effect) => [
        plan([piece('a'), piece('b', { needs: ['a'] })]),
        author('a', [effect('a'), ...commits({ 'a.txt': 'a\n' })]),
        author('b', [effect('b'), ...commits({ 'b.txt': 'b\n' })]),
        APPROVE_ALL,
      ]);
      await pool.submit();
      const worker = await startWorker(pool, 'bob');
      const end = await pool.ended();
      expect(end['why'], worker.said()).toMatch(/^DONE/);
      expect(pool.effects().toSorted()).toEqual(['a', 'b']);
      const { bench, submitter, remote } = pool;
      // The submitter’s machine had nothing of it until now.
      expect(git(bench.repository, 'for-each-ref', 'refs/heads/squad', 'refs/squad')).toBe('');
      expect(git(remote, 'rev-parse', '--verify', `refs/heads/squad/${RUN}`)).toMatch(/^[0-9a-f]{40}$/);
      const merged = await submitter.run(
        ['merge', RUN, '--pool', await postgres.url('delivers'), '--json'],
        bench.repository,
      );
      expect(merged.code, merged.stderr).toBe(0);
      expect(readFileSync(join(bench.repository, 'b.txt'), 'utf8')).toBe('b\n');
      const report = await submitter.run(['report', RUN, '--pool', await postgres.url('delivers')]);
      expect(report.stdout, report.stderr).toContain('Make things');
      worker.child.kill('SIGTERM');
      await until('the end of the worker', () => (worker.machine.alive().length === 0 ? true : undefined));
      expect(worker.child.exitCode, worker.said()).toBe(0);
    },
  );

  it('goes on elsewhere when a machine is lost, and does no settled turn again', { timeout: TIMEOUT }, async (test) => {
    const pool = await openPoolBench(
      test,
      'takes_over',
      (effect, root) => [
        plan([piece('a'), piece('b', { needs: ['a'] })]),
        author('a', [effect('a'), ...commits({ 'a.txt': 'a\n' })]),
        author('b', [effect('b'), waitFor(join(root, 'go')), ...commits({ 'b.txt': 'b\n' })]),
        APPROVE_ALL,
      ],
      { publish: { remote: 'origin' } },
    );
    await pool.submit();
    const first = await startWorker(pool, 'bob');
    await until('the work of a in the pool', async () => {
      const status = (await pool.run())?.['status'] as { tasks?: { done: number } } | null;
      return status?.tasks?.done === 1 && pool.effects().includes('b') ? true : undefined;
    });
    expect(git(pool.remote, 'for-each-ref', `refs/heads/squad/${RUN}`)).toBe('');
    first.machine.lose();
    expect(existsSync(first.machine.home)).toBe(false);
    const second = await startWorker(pool, 'cia');
    await until('the run on the other machine', async () =>
      (await pool.run())?.['worker'] === 'cia' ? true : undefined,
    );
    writeFileSync(join(pool.remote, '..', 'go'), '');
    const end = await pool.ended();
    expect(end['why'], second.said()).toMatch(/^DONE/);
    // The turn that was cut short was done again, and no other one.
    expect(pool.effects()).toEqual(['a', 'b', 'b']);
    expect(end['epoch']).toBe(2);
    const head = git(pool.remote, 'rev-parse', `refs/heads/squad/${RUN}`);
    expect(git(pool.remote, 'ls-tree', '--name-only', head).split('\n')).toEqual(
      expect.arrayContaining(['a.txt', 'b.txt']),
    );
    const merged = await pool.submitter.run(
      ['merge', RUN, '--pool', await postgres.url('takes_over'), '--json'],
      pool.bench.repository,
    );
    expect(merged.code, merged.stderr).toBe(0);
  });

  it('does what people ask for from elsewhere', { timeout: TIMEOUT }, async (test) => {
    const url = await postgres.url('commands');
    const pool = await openPoolBench(test, 'commands', (_effect, root) => [
      plan([piece('a')]),
      author('a', [waitFor(join(root, 'go')), ...commits({ 'a.txt': 'a\n' })]),
      APPROVE_ALL,
    ]);
    await pool.submit();
    const worker = await startWorker(pool, 'bob');
    await until('a task at work', async () => {
      const status = await pool.submitter.run(['status', RUN, '--pool', url, '--json']);
      return status.stdout.includes('"working"') || status.stdout.includes('"running"') ? true : undefined;
    });
    const paused = await pool.submitter.run(['pause', RUN, '--pool', url, '--json']);
    expect(paused.lines[0], `${paused.stderr}${worker.said()}`).toMatchObject({
      verb: 'pause',
      by: 'ann through the pool',
    });
    writeFileSync(join(pool.remote, '..', 'go'), '');
    await until('the run to wait', async () => ((await pool.run())?.['state'] === 'waiting' ? true : undefined));
    const resumed = await pool.submitter.run(['resume', RUN, '--pool', url, '--json']);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect((await pool.ended())['why'], worker.said()).toMatch(/^DONE/);
  });

  it('leaves a run alone that no person of the machine has allowed', { timeout: TIMEOUT }, async (test) => {
    const pool = await openPoolBench(test, 'refuses', (effect) => [
      plan([piece('a')]),
      author('a', [effect('a')]),
      APPROVE_ALL,
    ]);
    await pool.submit();
    const machine = pool.machine('bob');
    const worker = machine.worker();
    const found = await until('why it waits', async () => {
      const run = await pool.run();
      return String(run?.['why']).includes('worker allow') ? run : undefined;
    });
    expect(found['state'], worker.said()).toBe('queued');
    expect(pool.effects()).toEqual([]);
  });
});
