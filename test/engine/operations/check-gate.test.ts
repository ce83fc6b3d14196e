import { describe, expect, it } from 'vitest';
import type { GateFacts } from '../../../src/model/plan/gate.ts';
import type { Phase, Work } from '../../../src/model/plan/work.ts';
import { checkGate } from '../../../src/engine/operations/check-gate.ts';
import { shortHash } from '../../../src/engine/operations/operation-ports.ts';
import { endedAs, stateOf } from '../../rules/support.ts';
import { MISSING, openInMemory, RED, withGit } from './in-memory.ts';

type Opened = ReturnType<typeof openInMemory>;

async function factsOf({ ports, board }: Pick<Opened, 'ports' | 'board'>): Promise<GateFacts> {
  const { type, facts } = await checkGate(ports, board);
  expect(type).toBe('gate-checked');
  return facts;
}

describe('the run branch at the end of a run', () => {
  it.each([
    ['was deleted', undefined],
    ['was moved', 'elsewhere'],
  ])('is not checked, and nothing runs on it, if it %s', async (_, found) => {
    const opened = openInMemory({ verify: ['check'] });
    const ports = withGit(opened.ports, { runHead: async () => found });
    const expected = { expected: opened.head, head: found ?? null, missing: [], commands: [] };
    expect(await factsOf({ ...opened, ports })).toEqual(expected);
    expect(opened.ran()).toEqual([]);
  });

  it.each([
    ['was deleted', undefined],
    ['was moved', 'elsewhere'],
  ])('has no verdict if it %s while it was checked', async (_, found) => {
    const opened = openInMemory({ verify: ['check'] });
    const heads = [opened.head, found];
    const ports = withGit(opened.ports, { runHead: async () => heads.shift() });
    const expected = { expected: opened.head, head: found ?? null, missing: [], commands: [] };
    expect(await factsOf({ ...opened, ports })).toEqual(expected);
    expect(opened.ran()).toEqual(['check']);
  });

  it('that cannot be looked at refuses the end, where the fault of the work has a place', async () => {
    const opened = openInMemory();
    const boom = new Error('boom');
    const ports = withGit(opened.ports, { runHead: () => Promise.reject(boom) });
    await expect(checkGate(ports, opened.board)).rejects.toBe(boom);
    const { head } = opened;
    const fault = async (thrown: unknown): Promise<string> => `for ${String(thrown)}`;
    expect(await factsOf({ ...opened, ports: { ...ports, fault } })).toEqual({
      ...{ expected: head, head, missing: [] },
      commands: [{ purpose: 'setup', run: 'git checkout', passed: false, output: 'for Error: boom' }],
    });
  });
});

describe('delivered work that is missing', () => {
  const done = endedAs('done');
  const stopping: Phase = { at: 'stopping', as: 'done', why: '' };
  type Row = readonly [name: string, (head: string, other: string) => Partial<Work>, integrate: boolean, string[]];
  it.each<Row>([
    ['a commit that the branch has', (head) => ({ ...done, commit: head }), true, []],
    ['a commit that it does not have', (_, other) => ({ ...done, commit: other }), true, ['a']],
    ['a commit whose merge it has', (head, other) => ({ ...done, commit: other, delivered: head }), true, []],
    ['a commit without its merge', (head, other) => ({ ...done, commit: head, delivered: other }), true, ['a']],
    ['a task that failed', (_, other) => ({ ...endedAs('failed'), commit: other }), true, []],
    ['a task whose work is not to be merged', (_, other) => ({ ...done, commit: other }), false, []],
    ['a task that is at work', (_, other) => ({ commit: other }), true, []],
    ['a task that is being stopped', (_, other) => ({ phase: stopping, commit: other }), true, []],
    ['a task without a commit', () => done, true, []],
  ])('is named by its task: %s', async (_name, work, integrate, missing) => {
    const opened = openInMemory();
    const other = opened.git.commit(opened.base, { writes: { 'b.txt': 'b' } }, 'other');
    const state = stateOf('a', { integrate }, work(opened.head, other));
    const board = { ...opened.board, tasks: opened.board.tasks.with(state) };
    expect((await factsOf({ ...opened, board })).missing).toEqual(missing);
  });

  it('is looked for with one call of git, and with more only beyond the end of its list', async () => {
    const opened = openInMemory();
    const state = stateOf('a', {}, { ...done, commit: opened.head });
    const board = { ...opened.board, tasks: opened.board.tasks.with(state) };
    const asked: string[] = [];
    const isAncestor = async (commit: string): Promise<boolean> => asked.push(commit) > 0;
    expect((await factsOf({ board, ports: withGit(opened.ports, { isAncestor }) })).missing).toEqual([]);
    expect(asked).toEqual([]);
    const ports = withGit(opened.ports, { isAncestor, commitsBetween: async () => [] });
    expect((await factsOf({ board, ports })).missing).toEqual([]);
    expect(asked).toEqual([opened.head]);
  });
});

describe('the commands at the end of a run', () => {
  const part = (head: string): string => head.slice(0, 12);

  it('are verify and each criterion’s once, without what a person left out, under ids that a later engine finds', async () => {
    const opened = openInMemory({ verify: ['build'], criteria: ['check', undefined, 'check', 'slow'] });
    const without = { by: 'me', commands: ['slow'] };
    const board = { ...opened.board, baseline: { ...opened.board.baseline, without } };
    // As another check left it. The end of a run has a new one all the same.
    opened.ports.pure.add((await opened.ports.workspaces.integrationAt('tidy', opened.head)).workspace.path);
    opened.folders.splice(0);
    expect((await factsOf({ ...opened, board })).commands).toEqual([
      { purpose: 'verify', run: 'build', passed: true, output: '' },
      { purpose: 'criterion', run: 'check', passed: true, output: '' },
    ]);
    const about = { task: 'gate', purpose: 'verify' };
    expect(opened.orders).toMatchObject([
      { ...about, id: `gate-${part(opened.head)}-1`, command: 'build', wallMs: 60_000 },
      { ...about, id: `criterion-${part(opened.head)}-${shortHash('check')}`, command: 'check', wallMs: 600_000 },
    ]);
    expect(opened.folders).toEqual([`open ${part(opened.head)}`, 'anew']);
  });

  it.each([
    [[], [], [], []],
    [['install'], [], [], ['install']],
    [[], ['build'], [], ['build']],
    [[], [], ['check'], ['check']],
    [[], ['build'], ['check'], ['build', 'check']],
    [['install'], ['build'], [], ['install', 'build']],
    [['install'], [], ['check'], ['install', 'check']],
  ])('all run, and a folder is opened only for them: %j %j %j', async (setup, verify, criteria, ran) => {
    const opened = openInMemory({ setup, verify, criteria });
    const { commands } = await factsOf(opened);
    expect(opened.ran()).toEqual(ran);
    expect(commands.map(({ run }) => run)).toEqual([...verify, ...criteria]);
    expect(opened.folders).toHaveLength(ran.length === 0 ? 0 : 2);
  });

  it('tell what failed: verify does not keep criteria from running', async () => {
    const opened = openInMemory({
      ...{ verify: ['build'], criteria: ['check', 'lint'] },
      answers: { build: [RED, RED], check: [RED, RED] },
    });
    const { commands } = await factsOf(opened);
    expect(commands.map(({ run, passed }) => [run, passed])).toEqual([
      ['build', false],
      ['check', false],
      ['lint', true],
    ]);
    expect(commands[1]?.output).toContain('it is red');
  });

  it('after a failed setup are none, because they would say nothing about the work', async () => {
    for (const verify of [[], ['build']]) {
      const opened = openInMemory({
        setup: ['install'],
        verify,
        criteria: ['check'],
        answers: { install: [RED, RED] },
      });
      const { commands } = await factsOf(opened);
      expect(commands).toMatchObject([{ purpose: 'setup', run: 'install', passed: false }]);
      expect(opened.ran()).toEqual(['install']);
    }
  });

  it('leave their folder to the next check as it is, not to be made once more', async () => {
    const opened = openInMemory({ verify: ['build'] });
    await factsOf(opened);
    expect(opened.ports.pure.size).toBe(1);
  });

  it.each([
    ['nothing has begun', [], 'anew'],
    ['verify has begun', ['gate-HEAD-1'], undefined],
    ['a criterion has begun', [`criterion-HEAD-${shortHash('check')}`], undefined],
    ['a check of the candidate has begun', ['verify-HEAD-1'], 'anew'],
  ])('of a resumed run stay in the folder where they began: %s', async (_, ids, made) => {
    const begun = (head: string): string[] => ids.map((id) => id.replace('HEAD', part(head)));
    const opened = openInMemory({ verify: ['build'], criteria: ['check'], begun });
    await factsOf(opened);
    expect(opened.folders[1]).toBe(made);
  });

  it.each([
    ['never failed on this commit', [], ['build', 'build']],
    ['ran once on it', ['verify-HEAD-1'], ['build', 'build']],
    ['ran twice on it', ['verify-HEAD-1', 'verify-HEAD-1-x2'], ['build']],
  ])('run at most three times on one commit: verify %s', async (_, ids, ran) => {
    const begun = (head: string): string[] => ids.map((id) => id.replace('HEAD', part(head)));
    const opened = openInMemory({ verify: ['build'], answers: { build: [RED, RED, RED] }, begun });
    await factsOf(opened);
    expect(opened.ran()).toEqual(ran);
  });

  it('that cannot run any more are the work’s fault if they can on the base commit', async () => {
    const opened = openInMemory({ criteria: ['tool'], answers: { tool: [MISSING, MISSING] } });
    const { commands } = await factsOf(opened);
    expect(commands[0]?.output).toContain(`On ${part(opened.base)}, the commit that the run begins from`);
    expect(opened.ran()).toEqual(['tool', 'tool', 'tool']);
  });

  it('end the engine if the machine is at fault', async () => {
    const opened = openInMemory({
      criteria: ['check'],
      answers: { check: [{ passed: false, why: 'not-run', output: 'no shell' }] },
    });
    await expect(checkGate(opened.ports, opened.board)).rejects.toThrow('no shell');
  });
});

describe('work that changed what checks it', () => {
  const files = { base: { 'test.sh': 'old\n' }, work: { 'test.sh': 'new\n' } };

  it('is told with the words of reviewers about it', async () => {
    const opened = openInMemory({ ...files, verify: ['sh test.sh'] });
    const words = [{ path: 'test.sh', by: 'rex', accepted: true, why: '', commit: opened.head }];
    const board = { ...opened.board, tasks: opened.board.tasks.with(stateOf('a', {}, { words })) };
    const { checkers } = await factsOf({ ...opened, board });
    expect(checkers).toEqual([{ path: 'test.sh', status: 'modified', added: 1, removed: 1, accepted: ['rex'] }]);
  });

  it('is not told of other work', async () => {
    const opened = openInMemory({ verify: ['sh test.sh'] });
    expect(await factsOf(opened)).not.toHaveProperty('checkers');
  });

  it.each([
    ['base', files, 2],
    [undefined, files, 1],
    ['base', {}, 1],
  ] as const)(
    'is checked with the old checks as well where that is wanted: checks %s',
    async (checks, given, times) => {
      const opened = openInMemory({ ...given, verify: ['sh test.sh'], definition: { ...(checks && { checks }) } });
      const facts = await factsOf(opened);
      const passed = { purpose: 'verify', run: 'sh test.sh', passed: true, output: '' };
      expect(facts.commands).toEqual([passed]);
      expect(facts.atBase).toEqual(times === 2 ? [passed] : undefined);
      expect(opened.ran()).toHaveLength(times);
    },
  );

  it('has the scripts of the base in the work’s own package.json then', async () => {
    const { ports, board, git } = openInMemory({
      base: { 'package.json': '{"scripts":{"test":"old"}}' },
      work: { 'package.json': '{"scripts":{"test":"new"},"dependencies":{"x":"1"}}' },
      ...{ verify: ['npm test'], definition: { checks: 'base' } },
    });
    const seen: unknown[] = [];
    const { integrationAt } = ports.workspaces;
    const watched = withGit(ports, {
      integrationAt: async (run, commit) => {
        seen.push(JSON.parse(git.filesAt(commit).get('package.json') ?? ''));
        return integrationAt(run, commit);
      },
    });
    await factsOf({ ports: watched, board });
    const dependencies = { x: '1' };
    expect(seen).toEqual([
      { scripts: { test: 'new' }, dependencies },
      { scripts: { test: 'old' }, dependencies },
    ]);
  });

  it('has the checks of the base over the work’s own files then', async () => {
    const { ports, board, git } = openInMemory({
      base: { 'test.sh': 'old\n' },
      ...{ work: { 'test.sh': 'new\n', 'a.txt': 'a\n' }, verify: ['sh test.sh'], definition: { checks: 'base' } },
    });
    const seen: unknown[] = [];
    const { integrationAt } = ports.workspaces;
    const watched = withGit(ports, {
      integrationAt: async (run, commit) => {
        seen.push(Object.fromEntries(git.filesAt(commit)));
        return integrationAt(run, commit);
      },
    });
    await factsOf({ ports: watched, board });
    expect(seen).toMatchObject([
      { 'test.sh': 'new\n', 'a.txt': 'a\n' },
      { 'test.sh': 'old\n', 'a.txt': 'a\n' },
    ]);
  });
});
