// @module-tag all
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { git } from '../support/git.ts';
import { todo, todos } from '../support/sprint-script.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { waitFor, type Entry } from './run-script.ts';
import { until } from './serve-bench.ts';
import { forSprint, scriptedTeam, sprintScript } from './sprint-run-script.ts';

const ITEMS = ['b-one', 'b-two', 'b-three'];
const HOUR_MS = 3_600_000;
const TIMEOUT = { timeout: 400_000 };

type Line = Readonly<Record<string, unknown>>;

function benchFor(script: (bench: RunBench) => readonly Entry[], sprint: object = {}): RunBench {
  const settings = { agents: scriptedTeam(), sprint: { folder: 'team', timezone: 'Europe/Berlin', ...sprint } };
  const bench = openRunBench({ script: [], settings });
  onTestFinished(() => {
    vi.restoreAllMocks();
    bench.end();
  });
  bench.rescript(script(bench));
  git(bench.repository, 'add', '-A');
  git(bench.repository, 'commit', '-qm', 'start');
  return bench;
}

async function one(bench: RunBench, ...args: string[]): Promise<Line> {
  const { code, lines, stderr } = await bench.run([...args, '--json']);
  expect(code, stderr).toBe(0);
  return lines[0] ?? {};
}

/** The state of each todo of the active sprint. */
async function todosNow(bench: RunBench): Promise<Record<string, unknown>> {
  const { sprint } = await one(bench, 'sprint', 'status');
  const list = (sprint as { todos?: readonly Line[] } | null)?.todos ?? [];
  return Object.fromEntries(list.map(({ id, state }) => [String(id), state]));
}

async function backlog(bench: RunBench): Promise<Record<string, unknown>> {
  const { lines } = await bench.run(['backlog', '--json']);
  return Object.fromEntries(lines.map(({ id, state }) => [String(id), state]));
}

function onLine({ repository }: RunBench): string[] {
  return git(repository, 'ls-tree', '--name-only', 'sprints')
    .split('\n')
    .filter((name) => name.startsWith('b-'));
}

/** The clock of this process, and of a command that runs in it. */
function later(ms: number): void {
  const now = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(() => now() + ms);
}

const WRAPPED = { done: ['b-one', 'b-two'], states: ['done', 'done', 'carried_over'] };
const ENDED = { done: ['b-one'], states: ['done', 'carried_over', 'carried_over'] };

it.each([
  ['a person stops it', WRAPPED, async (bench: RunBench) => bench.start(['sprint', 'stop', '--json']).finished],
  ['a person ends it', ENDED, async (bench: RunBench) => bench.start(['sprint', 'stop', '--now', '--json']).finished],
  ['its time is over', WRAPPED, async () => later(3 * HOUR_MS)],
])('a sprint wraps up once %s, reports, and the rest is carried over', TIMEOUT, async (_, expected, stop) => {
  // The planner of the second todo waits, so the third one has not begun.
  const bench = benchFor(({ root }) => [
    ...sprintScript(
      ITEMS.map((item) => ({ item, ...(item === 'b-two' ? { plans: [waitFor(join(root, 'go'))] } : {}) })),
      ITEMS,
    ),
  ]);
  const running = bench.run(['sprint', 'start', 'Good things', '--until', '2h', '--yes', '--json']);
  const isThere = async (): Promise<boolean> => {
    const { 'b-one': first, 'b-two': second, 'b-three': third } = await todosNow(bench);
    return first === 'committed' && second === 'running' && third === 'queued';
  };
  await until(isThere, async () => one(bench, 'sprint', 'status'), 180_000);
  const stopped = await stop(bench);
  if (stopped !== undefined) expect([stopped.code, stopped.stderr]).toEqual([0, '']);
  const isCarried = async (): Promise<boolean> => (await todosNow(bench))['b-three'] === 'carried_over';
  if (expected === WRAPPED) await until(isCarried, async () => one(bench, 'sprint', 'status'), 120_000);
  writeFileSync(join(bench.root, 'go'), '');
  const { code, lines, stderr } = await running;
  expect(lines.at(-1), stderr).toMatchObject({ type: 'sprint-ended', outcome: 'completed' });
  // A person sees that it is not all that was wanted.
  expect(code).toBe(1);
  const states = await backlog(bench);
  expect(ITEMS.map((item) => states[item])).toEqual(expected.states);
  expect(onLine(bench)).toEqual(expected.done.map((item) => `${item}.txt`));
  const report = await one(bench, 'sprint', 'report');
  expect(report).toMatchObject({ state: 'completed', headline: 'Logins work' });
  const status = await bench.run(['sprint', 'status']);
  expect(status.stdout).toContain('`squad merge sprints` takes it');
  expect(await one(bench, 'merge', 'sprints')).toMatchObject({ how: 'fast-forward' });
  expect(existsSync(join(bench.repository, 'b-one.txt'))).toBe(true);
});

const APPROVE = { approve: 'todos' };

it(
  'a sprint with a gate asks before its first todo, chooses again, and then does what was approved',
  TIMEOUT,
  async () => {
    const bench = benchFor(
      () => [
        { when: '# Task todos-2:', steps: [{ answer: 'ok' }], structured: forSprint(todos(todo('b-two'))) },
        ...sprintScript([{ item: 'b-one' }, { item: 'b-two' }], ['b-one', 'b-two']),
      ],
      APPROVE,
    );
    const start = ['sprint', 'start', 'Good things', '--yes', '--json'];
    const asked = await bench.run(start);
    expect([asked.code, await todosNow(bench)]).toEqual([3, {}]);
    expect(JSON.stringify(asked.lines)).toContain('no estimate');
    await one(bench, 'answer', 'one is enough');
    const again = await bench.run(start);
    expect([again.code, await todosNow(bench)]).toEqual([3, {}]);
    await one(bench, 'answer', 'approve');
    const { code, lines, stderr } = await bench.run(start);
    expect([code, lines.at(-1)], stderr).toEqual([0, expect.objectContaining({ outcome: 'completed' })]);
    expect(await backlog(bench)).toEqual({ 'b-one': 'pending', 'b-two': 'done' });
  },
);

it('a sprint whose todos no one approves in its time is blocked, and says so', TIMEOUT, async () => {
  const bench = benchFor(() => sprintScript([{ item: 'b-one' }], ['b-one']), APPROVE);
  const running = bench.run(['sprint', 'start', 'Good things', '--until', '2h', '--yes', '--json']);
  const isAsked = async (): Promise<boolean> =>
    (await one(bench, 'sprint', 'status'))['sprint'] !== null &&
    JSON.stringify(await one(bench, 'sprint', 'status')).includes('todo_approval');
  await until(isAsked, async () => one(bench, 'sprint', 'status'), 180_000);
  later(3 * HOUR_MS);
  const { code, lines, stderr } = await running;
  const reason = 'no one approved its todos before its time was over';
  expect([code, lines.at(-1)], stderr).toEqual([1, expect.objectContaining({ outcome: 'blocked', reason })]);
  expect(await backlog(bench)).toEqual({ 'b-one': 'pending' });
  expect((await bench.run(['sprint', 'report'])).stdout).toContain(reason);
});
