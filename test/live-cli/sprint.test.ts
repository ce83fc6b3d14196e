import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { stateOf } from '../support/state.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY, PLAIN_MODEL } from './codex-harness.ts';
import { SKETCH, sprintTurns, subjectOf, type LiveTodo } from './sprint-turns.ts';
import { openModelRoom, processesOf, runtimesAt, type Cli, type WholeRunRoom } from './whole-run-room.ts';

const test = it.skipIf(CLAUDE_BINARY === undefined || CODEX_BINARY === undefined);
const MINUTES = 30;

function settingsOf(one: Cli, other: Cli, baseUrl: string): object {
  const agent = (name: string, runtime: Cli, access = 'edit') => ({
    ...{ name, role: name, runtime, access },
    ...(runtime === 'codex' ? { model: PLAIN_MODEL } : {}),
  });
  return {
    version: 1,
    agents: [
      { ...agent('research', other), network: true },
      agent('planner', one),
      agent('designer', one, 'read-only'),
      agent('architect', other, 'read-only'),
      { ...agent('developer', one), commits: false },
      agent('qa', other, 'read-only'),
      agent('version-controller', one),
    ],
    runtimes: runtimesAt(baseUrl),
    sprint: { folder: 'team', timezone: 'Europe/Berlin' },
  };
}

let room: WholeRunRoom;
afterEach(() => room.close());

type Line = Readonly<Record<string, unknown>>;

async function json(args: readonly string[]): Promise<readonly Line[]> {
  const said = await room.engine.run([...args, '--json'], room.environment);
  expect(said.code, said.stderr).toBe(0);
  return said.lines;
}

async function ask(text: string, ...more: readonly string[]): Promise<Line> {
  return (await json(['request', text, ...more]))[0] ?? {};
}

const LINE = 'sprints';
const BROUGHT = 'The key of the map is K-42.';
const TODOS: readonly LiveTodo[] = [
  { item: 'b-one', asked: 'first two', rejected: { by: 'architect', category: 'implementation' } },
  { item: 'b-two', asked: 'first two', rejected: { by: 'qa', category: 'verification' } },
  { item: 'b-three', asked: 'map', lacks: { input: 'the key of the map', brought: BROUGHT } },
];

const CASES: readonly [Cli, Cli][] = [
  ['claude', 'codex'],
  ['codex', 'claude'],
];

describe('a team over sprints, by the real claude and codex', () => {
  test.each(CASES)('%s plans and builds, %s looks and judges', { timeout: MINUTES * 60_000 }, async (one, other) => {
    const said: string[] = [];
    room = await openModelRoom({
      files: {},
      turns: () => sprintTurns(TODOS, { hasTool: one === 'claude', said }),
      settings: (baseUrl) => settingsOf(one, other, baseUrl),
    });
    const { engine, model } = room;
    const { repository } = engine;
    git(repository, 'add', '-A');
    git(repository, 'commit', '-qm', 'start');
    const sketch = join(engine.root, 'sketch.md');
    writeFileSync(sketch, SKETCH);
    const first = await ask('Make the first two.', '--attach', sketch);
    const second = await ask('Show the map.');
    expect(await ask('make the FIRST two')).toMatchObject({ id: first['id'], how: 'join' });

    const ended = (await json(['request', 'Make the first two!', '--wait', 'done', '--yes'])).at(-1);
    expect(model.strange).toEqual([]);
    expect(ended).toMatchObject({ type: 'request-ended', id: first['id'], state: 'done' });
    const items = ended?.['items'] as readonly Line[];
    expect(items.map(({ state }) => state)).toEqual(['done', 'done']);
    for (const { commit } of items) git(repository, 'merge-base', '--is-ancestor', String(commit), LINE);
    expectRead(said);
    expect(subjectsOnLine().toSorted()).toEqual(['b-one', 'b-two'].map(subjectOf));
    expect(await json(['request', 'show', String(second['id'])])).toMatchObject([{ state: 'blocked' }]);

    expect(await ask(BROUGHT)).toMatchObject({ how: 'reopen', items: ['b-three'] });
    const delivered = (await json(['request', 'Show the map.', '--wait', 'done', '--yes'])).at(-1);
    expect(delivered).toMatchObject({ id: second['id'], state: 'done', items: [{ id: 'b-three', state: 'done' }] });
    expect(git(repository, 'ls-tree', '--name-only', LINE).split('\n')).toEqual(
      expect.arrayContaining(['b-one.txt', 'b-two.txt', 'b-three.txt']),
    );
    expect(model.strange).toEqual([]);
    expectTeamFiles();
    // On a busy machine a helper of git outlives its command by a moment.
    await expect.poll(() => processesOf(engine.root), { timeout: 20_000 }).toEqual([]);
  });
});

/** Agents with `edit`, with the network and with `read-only` read the attachment, and could not change it. */
function expectRead(said: readonly string[]): void {
  expect(said.map((one) => one.split(':')[0])).toEqual([
    'planner',
    'research',
    ...TODOS.slice(0, 2).map(() => 'architect'),
  ]);
  for (const one of said) {
    expect(one).toContain(SKETCH);
    expect(one).toContain('kept');
    expect(one).toContain('there');
  }
  expect(said[0]?.split(SKETCH)).toHaveLength(3);
  const folder = join(stateOf(room.engine.repository), 'attachments');
  const [hash = ''] = readdirSync(folder);
  expect(readFileSync(join(folder, hash, 'sketch.md'), 'utf8')).toBe(SKETCH);
}

/** Only paths of its own todo are in a commit of the version controller. */
function subjectsOnLine(): string[] {
  const commits = git(room.engine.repository, 'log', '--format=%H %s', LINE, '--not', 'main').split('\n');
  return commits.flatMap((line) => {
    const [, hash = '', subject = ''] = /^(\S+) (feat: .*)$/.exec(line) ?? [];
    if (hash === '') return [];
    const paths = git(room.engine.repository, 'show', '--format=', '--name-only', hash);
    expect(subject).toBe(subjectOf(paths.replace('.txt', '')));
    return [subject];
  });
}

function expectTeamFiles(): void {
  const text = (path: string): string =>
    readFileSync(join(room.engine.repository, 'team/shared_workspace', path), 'utf8');
  for (const { item } of TODOS) expect(text('completed_backlog.md')).toContain(item);
  const sprints = readdirSync(join(room.engine.repository, 'team/shared_workspace/sprints'));
  expect(sprints).toHaveLength(2);
  expect(text('current_sprint.md')).toContain('No sprint is active.');
  for (const sprint of sprints) {
    expect(text(`sprints/${sprint}/report.md`)).toContain('Logins work');
    expect(text(`sprint_history/${sprint}.md`)).toContain('Logins work');
    expect(text('sprint_history/index.md')).toContain(`(${sprint}.md)`);
  }
  const [first = ''] = sprints;
  for (const category of ['implementation', 'verification'])
    expect(text(`sprints/${first}/report.md`)).toContain(`was reopened: ${category} 1`);
  for (const role of ['planner', 'architect', 'developer', 'qa']) {
    const history = readFileSync(join(room.engine.repository, 'team', role, 'history.md'), 'utf8');
    for (const sprint of sprints) expect(history).toContain(sprint);
  }
}
