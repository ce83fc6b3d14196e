import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { ALL } from '../support/lane.ts';
import { requestPlans, write } from '../support/sprint-script.ts';
import { KINDS } from '../../src/model/sprint/kinds.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { waitFor, type Entry } from './run-script.ts';
import { scriptedTeam, sprintScript } from './sprint-run-script.ts';

const SETTINGS = { agents: scriptedTeam(2), sprint: { folder: 'team', timezone: 'Europe/Berlin' } };

function benchFor({ onTestFinished }: { onTestFinished: (end: () => void) => void }): RunBench {
  const bench = openRunBench({ script: [], settings: SETTINGS });
  onTestFinished(() => bench.end());
  git(bench.repository, 'add', '-A');
  git(bench.repository, 'commit', '-qm', 'start');
  return bench;
}

type Line = Readonly<Record<string, unknown>>;

async function json(bench: RunBench, args: readonly string[], code = 0): Promise<readonly Line[]> {
  const said = await bench.run([...args, '--json']);
  expect(
    said.code,
    `${said.stderr}\n${said.lines
      .slice(-6)
      .map((line) => JSON.stringify(line))
      .join('\n')}`,
  ).toBe(code);
  return said.lines;
}

async function ask(bench: RunBench, text: string): Promise<Line> {
  return (await json(bench, ['request', text]))[0] ?? {};
}

const LINE = 'sprints';

/** Subjects of the commits of agents on the line. */
function delivered({ repository }: RunBench): string[] {
  return git(repository, 'log', '--format=%s', LINE, '--not', 'main')
    .split('\n')
    .filter((subject) => /^(?:feat|fix):/.test(subject));
}

async function states(bench: RunBench): Promise<Record<string, unknown>> {
  const items = await json(bench, ['backlog']);
  return Object.fromEntries(items.map(({ id, state }) => [id, state]));
}

function plansFor(one: unknown, two: unknown): Entry {
  const [first, second] = [String(one), String(two)];
  const writes = [
    write('b-one', { source: `request:${first}` }),
    write('b-two', { source: `request:${first}` }),
    write('b-three', { source: `request:${second}`, priority: 40 }),
  ];
  return {
    when: '# Task plan-requests:',
    steps: [{ answer: 'planned' }],
    structured: requestPlans({ [first]: ['b-one', 'b-two'], [second]: ['b-three'] }, writes),
  };
}

/** Claims and ends of the turns of the last sprint, in the order of the ledger: `claimed b-one-build-1 developer`. */
function turns(bench: RunBench): string[] {
  const ledger = bench.ledger();
  try {
    const [newest] = ledger.records(KINDS.sprint).slice(-1);
    const { run } = (newest?.value ?? {}) as { run: string };
    return ledger.events({ stream: run, types: ['attempt-claimed', 'attempt-settled'] }).map(({ type, data }) => {
      const { taskId, number, agent = '' } = data as Line;
      return `${type.replace('attempt-', '')} ${String(taskId)}-${String(number)} ${String(agent)}`.trim();
    });
  } finally {
    ledger.close();
  }
}

describe('a team over two sprints', { ...ALL, timeout: 400_000 }, () => {
  it('delivers what was asked for, waits for an input, and builds on its own work', async (test) => {
    const bench = benchFor(test);
    const first = await ask(bench, 'Make one and two.');
    const second = await ask(bench, 'Show the map.');
    expect(await ask(bench, 'make ONE and two')).toMatchObject({ id: first['id'], how: 'join' });
    const judging = join(bench.root, 'qa-has-b-two');
    bench.rescript([
      plansFor(first['id'], second['id']),
      ...sprintScript([
        { item: 'b-one', first: [waitFor(judging)] },
        { item: 'b-two', reopened: 'implementation', qaFirst: [{ run: ['touch', judging] }] },
        { item: 'b-three', lacks: 'the key of the map' },
      ]),
    ]);

    const ended = (await json(bench, ['request', 'Make one and two!', '--wait', 'done', '--yes'])).at(-1);
    expect(ended).toMatchObject({ type: 'request-ended', id: first['id'], state: 'done' });
    const items = ended?.['items'] as readonly Line[];
    for (const { commit, state } of items) {
      expect(state).toBe('done');
      expect(git(bench.repository, 'merge-base', '--is-ancestor', String(commit), LINE)).toBe('');
    }
    const order = turns(bench).filter((turn) => /b-one-build-1|b-two-build-3/.test(turn));
    expect(order.slice(0, 2), 'todo 2 is with QA while todo 1 is still being built').toEqual([
      'claimed b-one-build-1 developer',
      'claimed b-two-build-3 qa',
    ]);
    expect(order.slice(2).toSorted()).toEqual(['settled b-one-build-1', 'settled b-two-build-3']);
    expect(await states(bench)).toMatchObject({ 'b-three': 'blocked' });
    expect(delivered(bench).toSorted()).toEqual(['feat: make b-one', 'feat: make b-two', 'fix: one line more']);
    const [status] = await json(bench, ['sprint', 'status']);
    expect(status).toMatchObject({
      active_sprint_id: null,
      last_sprint: { outcome: 'completed' },
      backlog: { blocked: 1 },
    });
    const retried = await bench.run(['retry']);
    expect([retried.code, retried.stderr]).toEqual([2, expect.stringContaining('is a run of the team, and over')]);
    const folder = join(bench.repository, 'team/shared_workspace');
    expect(readFileSync(join(folder, 'completed_backlog.md'), 'utf8')).toContain('b-two');
    expect(readFileSync(join(folder, 'backlog.md'), 'utf8')).toContain('the key of the map');
    expect(readFileSync(join(folder, 'sprint_history/index.md'), 'utf8')).toContain('Sprint');

    expect(await ask(bench, 'The key of the map is K-42.')).toMatchObject({ how: 'reopen', items: ['b-three'] });
    expect(await states(bench)).toMatchObject({ 'b-three': 'pending' });
    bench.rescript(sprintScript([{ item: 'b-three' }]));
    await json(bench, ['request', 'Show the map.', '--wait', 'done', '--yes']);
    const line = git(bench.repository, 'ls-tree', '--name-only', LINE).split('\n');
    expect(line).toEqual(expect.arrayContaining(['b-one.txt', 'b-two.txt', 'b-three.txt']));
    expect(await states(bench)).toEqual({ 'b-one': 'done', 'b-two': 'done', 'b-three': 'done' });
    expect(await json(bench, ['merge', LINE])).toMatchObject([{ type: 'merged', line: LINE, branch: 'main' }]);
    expect(git(bench.repository, 'rev-parse', 'main')).toBe(git(bench.repository, 'rev-parse', LINE));
    const done = await json(bench, ['request', 'list']);
    expect(done.map(({ state }) => state)).toEqual(['done', 'done']);
  });
});
