// @module-tag all
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { statusOf } from '../../src/squad/pool/run-status.ts';
import { openPool, type OpenedPool } from '../../src/substrate/pool/index.ts';
import type { PoolRun } from '../../src/substrate/ports/pool.ts';
import { createSystemClock } from '../../src/substrate/system/clock/system-clock.ts';
import { git } from '../support/git.ts';
import { machinesRoot, openMachineAt, until, type TestMachine } from '../support/pool-machines.ts';
import { openProxy } from '../support/pool-proxy.ts';
import { startPostgres, whyNoPostgres, type TestPostgres } from '../support/postgres.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan, waitFor, type Entry, type Step } from './run-script.ts';
import { ALL, spread } from '../support/lane.ts';

const RUN = 'make-things';
const TIMEOUT = 600_000;

let postgres: TestPostgres;

/** A submitter’s checkout with a remote, and machines that share nothing else with it. */
interface PoolBench {
  readonly url: string;
  readonly bench: RunBench;
  readonly remote: string;
  readonly submitter: TestMachine;
  /** Lets the turns that wait for it go on. */
  go(): void;
  machine(name: string, pool?: string): TestMachine;
  /** A machine on which a person has allowed the run, with its worker. `pool`: its way there. */
  work(name: string, more?: readonly string[], pool?: string): Promise<TestMachine>;
  /** What was really done, in its order. */
  effects(): string[];
  submit(more?: readonly string[]): Promise<void>;
  /** As the database has it, once it `fits`. */
  run(what: string, fits: (run: PoolRun) => boolean): Promise<PoolRun>;
}

interface Script {
  readonly effect: (name: string) => Step;
  /** With the pid of the agent that does it. */
  readonly mark: (name: string) => Step;
  /** With the folder in which it is done. */
  readonly place: (name: string) => Step;
  readonly wait: Step;
}

async function openPoolBench(
  test: TestContext,
  name: string,
  script: (given: Script) => readonly Entry[],
  settings: Readonly<Record<string, unknown>> = {},
): Promise<PoolBench> {
  const root = machinesRoot();
  const [effects, go, remote] = ['effects', 'go', 'remote.git'].map((one) => join(root, one)) as [
    string,
    string,
    string,
  ];
  writeFileSync(effects, '');
  const effect = (done: string): Step => ({ run: ['sh', '-c', `echo ${done} >>'${effects}'`] });
  const mark = (done: string): Step => ({ run: ['sh', '-c', `echo ${done} $PPID >>'${effects}'`] });
  const place = (done: string): Step => ({ run: ['sh', '-c', `echo ${done} $PWD >>'${effects}'`] });
  const bench = openRunBench({ script: script({ effect, mark, place, wait: waitFor(go) }), settings });
  execFileSync('git', ['init', '-q', '--bare', '-b', 'main', remote]);
  git(bench.repository, 'remote', 'add', 'origin', remote);
  git(bench.repository, 'push', '-q', 'origin', 'main');
  const url = await postgres.url(name);
  const opened: OpenedPool = await openPool(url, createSystemClock());
  const machines: TestMachine[] = [];
  const machine = (called: string, way = url): TestMachine => {
    const made = openMachineAt(root, called, way);
    machines.push(made);
    return made;
  };
  const submitter = machine('ann');
  test.onTestFinished(async () => {
    for (const one of machines) one.lose();
    await opened.close();
    bench.close();
    rmSync(root, { recursive: true, force: true });
  });
  const said = (): string => machines.map((one) => one.said()).join('\n');
  return {
    ...{ url, bench, remote, submitter, machine },
    go: () => writeFileSync(go, ''),
    work: async (called, more = [], way = url) => {
      const made = machine(called, way);
      const allowed = await made.run(['worker', 'allow', RUN, '--yes']);
      expect(allowed.code, allowed.stderr).toBe(0);
      made.worker(more);
      return made;
    },
    effects: () => readFileSync(effects, 'utf8').split('\n').slice(0, -1),
    submit: async (more = []) => {
      const flags = ['--runtime', 'scripted', '--yes', '--json', ...more];
      const submitted = await submitter.run(['submit', 'objective.md', ...flags], bench.repository);
      expect(submitted.code, submitted.stderr).toBe(0);
    },
    run: async (what, fits) =>
      until(
        what,
        async () => {
          const run = (await opened.store.runs()).find((one) => one.name === RUN);
          return run !== undefined && fits(run) ? run : undefined;
        },
        said,
      ),
  };
}

const isOver = ({ state }: PoolRun): boolean => state === 'over';
const why = whyNoPostgres();

describe.skipIf(why !== undefined)(`a pool${why === undefined ? '' : ` (left out: ${why})`}`, () => {
  beforeAll(async () => {
    postgres = await startPostgres();
  }, 120_000);
  afterAll(() => postgres?.close());

  it(
    'runs on another machine what was submitted on one, which then takes the work',
    { ...ALL, timeout: TIMEOUT },
    async (test) => {
      const pool = await openPoolBench(test, 'delivers', ({ effect }) => [
        plan([piece('a')]),
        author('a', [effect('a'), ...commits({ 'a.txt': 'a\n' })]),
        APPROVE_ALL,
      ]);
      const { bench, submitter, remote, url } = pool;
      await pool.submit();
      const worker = await pool.work('bob', ['--once']);
      const end = await pool.run('the end of the run', isOver);
      expect(end.why).toMatch(/^DONE/);
      expect([end.epoch, pool.effects()]).toEqual([1, ['a']]);
      // The submitter’s machine had nothing of it until now.
      expect(git(bench.repository, 'for-each-ref', 'refs/heads/squad', 'refs/squad')).toBe('');
      expect(git(remote, 'rev-parse', '--verify', `refs/heads/squad/${RUN}`)).toMatch(/^[0-9a-f]{40}$/);
      const merged = await submitter.run(['merge', RUN, '--pool', url, '--json'], bench.repository);
      expect(merged.code, merged.stderr).toBe(0);
      expect(readFileSync(join(bench.repository, 'a.txt'), 'utf8')).toBe('a\n');
      const report = await submitter.run(['report', RUN, '--pool', url]);
      expect(report.stdout, report.stderr).toContain('Make things');
      await until('the end of the worker', () => (worker.alive().length === 0 ? true : undefined));
      // It keeps the mirror, and nothing of the run.
      expect(existsSync(join(worker.home, 'state/squad/pool/bob/runs', `${end.id}-1`))).toBe(false);
    },
  );

  it(
    'continues elsewhere when a machine is lost, and does no settled turn again',
    { timeout: TIMEOUT },
    async (test) => {
      const pool = await openPoolBench(
        test,
        'takes_over',
        ({ effect, wait }) => [
          plan([piece('a'), piece('b', { needs: ['a'] })]),
          author('a', [effect('a'), ...commits({ 'a.txt': 'a\n' })]),
          author('b', [effect('b'), wait, ...commits({ 'b.txt': 'b\n' })]),
          APPROVE_ALL,
        ],
        { publish: { remote: 'origin' } },
      );
      const { remote, submitter, bench, url } = pool;
      await pool.submit();
      const first = await pool.work('bob');
      // The plan and a.
      await pool.run(
        'the work of a in the pool',
        (run) => statusOf(run)?.tasks.done === 2 && pool.effects().includes('b'),
      );
      // Nothing is delivered that is not done.
      expect(git(remote, 'for-each-ref', `refs/heads/squad/${RUN}`)).toBe('');
      first.lose();
      expect(existsSync(first.home)).toBe(false);
      pool.go();
      await pool.work('cia');
      const end = await pool.run('the end of the run', isOver);
      expect([end.why?.slice(0, 4), end.epoch]).toEqual(['DONE', 2]);
      // The turn that was cut short was done again, and no other one.
      expect(pool.effects()).toEqual(['a', 'b', 'b']);
      const files = git(remote, 'ls-tree', '--name-only', `refs/heads/squad/${RUN}`).split('\n');
      expect(files).toEqual(expect.arrayContaining(['a.txt', 'b.txt']));
      const merged = await submitter.run(['merge', RUN, '--pool', url, '--json'], bench.repository);
      expect(merged.code, merged.stderr).toBe(0);
      expect(readFileSync(join(bench.repository, 'b.txt'), 'utf8')).toBe('b\n');
    },
  );

  it('does what people ask for from elsewhere', { ...ALL, timeout: TIMEOUT }, async (test) => {
    const pool = await openPoolBench(test, 'commands', ({ effect, wait }) => [
      plan([piece('a'), piece('b', { needs: ['a'] })]),
      author('a', [effect('a'), wait, ...commits({ 'a.txt': 'a\n' })]),
      author('b', commits({ 'b.txt': 'b\n' })),
      APPROVE_ALL,
    ]);
    const { submitter, url } = pool;
    await pool.submit();
    const worker = await pool.work('bob');
    await until('a task at work', () => (pool.effects().length > 0 ? true : undefined), worker.said);
    const paused = await submitter.run(['pause', RUN, '--pool', url, '--json']);
    expect(paused.lines[0], `${paused.stderr}${worker.said()}`).toMatchObject({
      verb: 'pause',
      by: 'ann through the pool',
    });
    pool.go();
    const status = await submitter.run(['status', RUN, '--pool', url, '--json']);
    expect(status.lines[0], status.stderr).toMatchObject({ name: RUN });
    const resumed = await submitter.run(['resume', RUN, '--pool', url, '--json']);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect((await pool.run('the end of the run', isOver)).why).toMatch(/^DONE/);
  });

  it(
    'lists, watches, stops, compares, takes and forks it from elsewhere',
    { ...ALL, timeout: TIMEOUT },
    async (test) => {
      const pool = await openPoolBench(test, 'verbs', ({ effect, wait }) => [
        plan([piece('a'), piece('b', { needs: ['a'] })]),
        author('a', [effect('a'), ...commits({ 'a.txt': 'a\n' })]),
        author('b', [effect('b'), wait, ...commits({ 'b.txt': 'b\n' })]),
        APPROVE_ALL,
      ]);
      const { submitter, bench, url, remote } = pool;
      const ask = async (...words: readonly string[]) => {
        const answer = await submitter.run([...words, '--pool', url, '--json'], bench.repository);
        expect(answer.code, answer.stderr).toBe(0);
        return answer.lines;
      };
      await pool.submit();
      expect(await ask('runs')).toMatchObject([{ type: 'pool-run', name: RUN, state: 'queued', worker: null }]);
      const worker = await pool.work('bob');
      await until('b at work', () => (pool.effects().includes('b') ? true : undefined), worker.said);
      // Its turn ends at once, and no worker continues it until a person does.
      const [stopped] = await ask('stop', RUN);
      expect(stopped).toMatchObject({ type: 'run-stopped', name: RUN, ended: [expect.any(String)] });
      expect((await pool.run('the stop', ({ state }) => state === 'waiting')).why).toBe(
        'stopped by ann through the pool',
      );
      pool.go();
      const watching = submitter.run(['watch', RUN, '--pool', url, '--json'], bench.repository);
      // Of a run that no worker has, its end is shown.
      expect((await watching).lines.at(-1)).toMatchObject({ type: 'run-ended' });
      await ask('resume', RUN);
      const watched = submitter.run(['watch', RUN, '--pool', url, '--json'], bench.repository);
      await pool.run('the end of the run', isOver);
      const seen = await watched;
      expect([seen.code, seen.lines.at(-1)?.['type']], seen.stderr).toEqual([0, 'run-ended']);
      expect(seen.lines.filter(({ type }) => type === 'attempt-ended').length).toBeGreaterThan(0);
      expect(pool.effects()).toEqual(['a', 'b', 'b']);
      const refs = (): string => git(bench.repository, 'for-each-ref', 'refs/heads/squad', 'refs/squad');
      const [diff] = await ask('diff', RUN, '--name-only');
      expect(diff).toMatchObject({ files: [{ path: 'a.txt' }, { path: 'b.txt' }] });
      expect(refs()).toBe('');
      const [points] = await ask('fork', RUN);
      const [first] = (points?.['points'] ?? []) as { seq: number }[];
      const [forked] = await ask('fork', RUN, '--at', String(first?.seq), '--name', 'again');
      expect(forked).toMatchObject({ type: 'run-forked', name: 'again' });
      expect(refs()).toBe('');
      await until(
        'the end of the fork',
        async () => (await ask('runs')).find((one) => one['name'] === 'again' && one['state'] === 'over'),
        worker.said,
      );
      expect(git(remote, 'rev-parse', '--verify', 'refs/heads/squad/again')).toMatch(/^[0-9a-f]{40}$/);
      await ask('merge', RUN);
      expect(refs()).toBe('');
      expect(readFileSync(join(bench.repository, 'b.txt'), 'utf8')).toBe('b\n');
    },
  );

  it(
    'works on while the database is away, and delivers once it is back',
    { ...ALL, timeout: TIMEOUT },
    async (test) => {
      const pool = await openPoolBench(
        test,
        'away',
        ({ effect, wait }) => [
          plan([piece('a'), piece('b', { needs: ['a'] })]),
          author('a', [effect('a'), wait, ...commits({ 'a.txt': 'a\n' })]),
          author('b', [effect('b'), ...commits({ 'b.txt': 'b\n' })]),
          APPROVE_ALL,
        ],
        { publish: { remote: 'origin' } },
      );
      const { remote } = pool;
      await pool.submit();
      const worker = await pool.work('bob');
      await until('a task at work', () => (pool.effects().length > 0 ? true : undefined), worker.said);
      postgres.stop();
      try {
        // Longer than a lease.
        await new Promise((resolve) => setTimeout(resolve, 15_000));
        expect(worker.said()).toContain('the run works on');
        pool.go();
        await until('the next task', () => (pool.effects().includes('b') ? true : undefined), worker.said);
        await new Promise((resolve) => setTimeout(resolve, 10_000));
        // Its work is done, and only this machine has it.
        expect(git(remote, 'for-each-ref', `refs/heads/squad/${RUN}`)).toBe('');
      } finally {
        postgres.start();
      }
      const end = await pool.run('the end of the run', isOver);
      expect([end.why?.slice(0, 4), end.epoch, pool.effects()]).toEqual(['DONE', 1, ['a', 'b']]);
      expect(git(remote, 'rev-parse', '--verify', `refs/heads/squad/${RUN}`)).toMatch(/^[0-9a-f]{40}$/);
    },
  );

  it(
    'never lets two work on it, when one is cut off from the database alone',
    { ...ALL, timeout: TIMEOUT },
    async (test) => {
      const pool = await openPoolBench(test, 'parted', ({ mark, wait }) => [
        plan([piece('a')]),
        author('a', [mark('a'), wait, ...commits({ 'a.txt': 'a\n' })]),
        APPROVE_ALL,
      ]);
      const proxy = await openProxy(postgres.port);
      test.onTestFinished(async () => proxy.close());
      await pool.submit();
      const bob = await pool.work('bob', [], pool.url.replace(String(postgres.port), String(proxy.port)));
      const [first = ''] = await until(
        'a task at work',
        () => (pool.effects().length > 0 ? pool.effects() : undefined),
        bob.said,
      );
      proxy.cut();
      const cia = await pool.work('cia');
      const [, second = ''] = await until(
        'the task elsewhere',
        () => (pool.effects().length > 1 ? pool.effects() : undefined),
        cia.said,
      );
      const [before, after] = [first, second].map((line) => Number(line.split(' ')[1])) as [number, number];
      expect(after).not.toBe(before);
      expect(() => process.kill(before, 0), bob.said()).toThrow('ESRCH');
      proxy.heal();
      pool.go();
      const end = await pool.run('the end of the run', isOver);
      expect([end.why?.slice(0, 4), end.epoch, pool.effects().length]).toEqual(['DONE', 2, 2]);
    },
  );

  const many = spread(6, 24, 6);
  it(
    `brings ${many} runs to their end on three workers, of which one is lost`,
    { ...ALL, timeout: 4 * TIMEOUT },
    async (test) => {
      const tasks = ['a', 'b', 'c', 'd'];
      const pool = await openPoolBench(
        test,
        'many',
        ({ place }) => [
          plan(tasks.map((task, index) => piece(task, index === 0 ? {} : { needs: [tasks[index - 1] ?? ''] }))),
          ...tasks.map((task) => author(task, [place(task), ...commits({ [`${task}.txt`]: `${task}\n` })])),
          APPROVE_ALL,
        ],
        { publish: { remote: 'origin' } },
      );
      const opened = await openPool(pool.url, createSystemClock());
      test.onTestFinished(async () => opened.close());
      await pool.submit();
      for (let number = 2; number <= many; number += 1) await pool.submit(['--name', `run-${number}`]);
      const slots = ['--slots', String(Math.ceil(many / 3))];
      const workers = await Promise.all(['bob', 'cia', 'dan'].map(async (name) => pool.work(name, slots)));
      const said = (): string => workers.map((one) => one.said()).join('\n');
      const done = () =>
        pool.effects().map((line) => ({ task: line[0], run: /runs\/([0-9a-f-]{36})-/.exec(line)?.[1] }));
      await until('a third of the work', () => (done().length > (many * tasks.length) / 3 ? true : undefined), said);
      const before = await opened.store.runs();
      workers[0]?.lose();
      const ends = await until(
        'all ends',
        async () => {
          const runs = await opened.store.runs();
          return runs.every(isOver) ? runs : undefined;
        },
        said,
        1_500_000,
      );
      expect(ends.map(({ why: end }) => end?.slice(0, 4))).toEqual(ends.map(() => 'DONE'));
      const moved = before.filter(({ worker, isHeld }) => isHeld && worker === 'bob').map(({ id }) => id);
      expect(moved.length).toBeGreaterThan(0);
      for (const { id, name, epoch } of ends) {
        const stored = (statusOf(before.find((one) => one.id === id) ?? { status: null })?.tasks.done ?? 0) - 1;
        const times = tasks.map((task) => done().filter((one) => one.run === id && one.task === task).length);
        // Settled and stored: once. At work when its machine was lost: once more. Anywhere else: once.
        times.forEach((count, index) => {
          if (!moved.includes(id) || index < stored)
            expect([name, tasks[index], count]).toEqual([name, tasks[index], 1]);
          else expect(count).toBeLessThanOrEqual(2);
        });
        expect(times.filter((count) => count > 1).length).toBeLessThanOrEqual(epoch - 1);
        // Each task’s work once, and nothing else.
        const range = `main..refs/heads/squad/${name}`;
        const files = git(pool.remote, 'log', '--no-merges', '--format=', '--name-only', range).split('\n');
        expect(files.filter((file) => file !== '').toSorted()).toEqual(tasks.map((task) => `${task}.txt`));
      }
    },
  );

  it('leaves a run alone that no person of the machine has allowed', { timeout: TIMEOUT }, async (test) => {
    const pool = await openPoolBench(test, 'refuses', ({ effect }) => [
      plan([piece('a')]),
      author('a', [effect('a'), { answer: 'done' }]),
      APPROVE_ALL,
    ]);
    await pool.submit();
    const machine = pool.machine('bob');
    machine.worker();
    await until(
      'why it is left',
      () => (machine.said().includes(`squad worker allow ${RUN}`) ? true : undefined),
      machine.said,
    );
    const { lines } = await pool.submitter.run(['pool', '--json']);
    expect(lines[0]?.['runs']).toMatchObject([{ state: 'queued', epoch: 0 }]);
    expect(pool.effects()).toEqual([]);
  });
});
