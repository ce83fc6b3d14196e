import { describe, expect, it } from 'vitest';
import type { Board } from '../../../src/model/plan/board.ts';
import type { Phase, Work } from '../../../src/model/plan/work.ts';
import {
  advanceBranch,
  integrateWork,
  restoreBranch,
  verifyCandidate,
} from '../../../src/engine/operations/integrate-work.ts';
import type { IntegrationAnswer, Workspaces } from '../../../src/substrate/ports/workspaces.ts';
import { stateOf } from '../../rules/support.ts';
import { openInMemory, RED, withGit } from './in-memory.ts';

type At<P extends Phase['at']> = Extract<Phase, { at: P }>;

describe('work that is merged', () => {
  const phase: At<'integrating'> = { at: 'integrating', commit: 'work', since: 0 };
  const merge = async (answer: IntegrationAnswer, title = 'Do it') => {
    const { ports, head } = openInMemory();
    const messages: string[] = [];
    const integrate: Workspaces['integrate'] = async ({ message }) => {
      messages.push(message);
      return answer;
    };
    const state = stateOf('a', { title });
    return { event: await integrateWork(withGit(ports, { integrate }), state, phase, head), messages, head };
  };
  const HEAD = openInMemory().head;

  it.each<readonly [name: string, answer: IntegrationAnswer, event: object]>([
    [
      'a merge is the candidate',
      { type: 'candidate', commit: 'merged', onto: HEAD },
      { type: 'integrated', candidate: 'merged' },
    ],
    [
      'what the branch has already is delivered',
      { type: 'empty', onto: HEAD },
      { type: 'integrated', candidate: HEAD },
    ],
    [
      'its author gets each conflict with its lines, a long one shortened',
      {
        type: 'conflict',
        onto: HEAD,
        files: [
          { path: 'a.txt', excerpt: '<<<' },
          { path: 'b.txt', excerpt: 'x'.repeat(601) },
          { path: 'c.png', excerpt: '' },
        ],
        messages: [],
      },
      { type: 'conflict', head: HEAD, files: ['a.txt\n<<<\n', `b.txt\n${'x'.repeat(600)}\n`, 'c.png'] },
    ],
    [
      'its author is told of a link that leaves the repository',
      { type: 'refused', reason: 'escaping-links', links: [{ path: 'l', target: '/etc' }] },
      { type: 'conflict', head: HEAD, files: ['l (a link to /etc, outside the repository)'] },
    ],
    [
      'its author is told of a history of its own',
      { type: 'refused', reason: 'unrelated-history' },
      { type: 'conflict', head: HEAD, files: ['all files: the work shares no history with the run branch'] },
    ],
    [
      'a person is asked if the branch was deleted meanwhile',
      { type: 'refused', reason: 'gone' },
      { type: 'branch-foreign', head: null },
    ],
    [
      'a person is asked if the branch was moved meanwhile',
      { type: 'candidate', commit: 'merged', onto: 'elsewhere' },
      { type: 'branch-foreign', head: 'elsewhere' },
    ],
  ])('%s', async (_, answer, event) => {
    expect((await merge(answer)).event).toEqual(event);
  });

  it.each([
    ['was moved before', 'elsewhere', 'elsewhere'],
    ['was deleted before', undefined, null],
  ])('is not, if the branch %s', async (_, found, head) => {
    const opened = openInMemory();
    const ports = withGit(opened.ports, { runHead: async () => found });
    const event = await integrateWork(ports, stateOf('a'), phase, opened.head);
    expect(event).toEqual({ type: 'branch-foreign', head });
  });

  it.each([
    ['Do it', 'Do it'],
    ['Do\n it', 'Do it'],
    ['t'.repeat(121), 't'.repeat(120)],
  ])('has its task and title in one line of the merge: %j', async (title, shown) => {
    const { messages } = await merge({ type: 'empty', onto: HEAD }, title);
    expect(messages).toEqual([`Merge a: ${shown}`]);
  });
});

describe('a candidate', () => {
  const verify = async (opened: ReturnType<typeof openInMemory>, work: Partial<Work> = {}) => {
    const { ports, head, board } = opened;
    const phase: At<'verifying'> = { at: 'verifying', commit: head, candidate: head, since: 0 };
    return verifyCandidate(ports, stateOf('a', {}, work), phase, board);
  };

  it('passes if all commands do', async () => {
    const opened = openInMemory({ verify: ['build', 'check'] });
    const event = { type: 'verified', candidate: opened.head, passed: true, output: '' };
    expect(await verify(opened)).toEqual(event);
    expect(opened.orders).toMatchObject([
      { id: `verify-${opened.head.slice(0, 12)}-1`, task: 'a' },
      { id: `verify-${opened.head.slice(0, 12)}-2`, task: 'a' },
    ]);
  });

  it('goes back to its author with the command that failed and what it printed', async () => {
    const opened = openInMemory({ verify: ['build', 'check', 'lint'], answers: { check: [RED] } });
    expect(await verify(opened)).toEqual({
      ...{ type: 'verified', candidate: opened.head, passed: false, command: 'check' },
      output: '`check` exited with 1:\nit is red',
    });
    expect(opened.ran()).toEqual(['build', 'check']);
  });

  it('tells which command changed files that are no part of the work', async () => {
    const opened = openInMemory({ verify: ['build'] });
    const bringBack: Workspaces['bringBack'] = async () => ({ changed: ['a.txt'], more: 2, isWhole: true });
    const event = await verify({ ...opened, ports: withGit(opened.ports, { bringBack }) });
    expect(event).toMatchObject({ passed: true, changed: [{ run: 'build', paths: ['a.txt'], more: 2 }] });
  });

  it.each([
    ['the first time, in a folder that was used', 0, [], 'pure', ['open']],
    ['the first time, in one that is not as it was', 0, [], 'spoilt', ['open', 'anew']],
    ['in a resumed run, where it began', 0, ['verify-HEAD-1'], 'spoilt', ['open']],
    ['once more, in a new folder', 1, [], 'pure', ['open', 'anew']],
    ['once more in a resumed run, where it began', 1, ['verify-HEAD-1-x2'], 'spoilt', ['open']],
    ['once more, although the first check has begun', 1, ['verify-HEAD-1'], 'pure', ['open', 'anew']],
  ] as const)('is checked %s', async (_, failures, ids, state, folders) => {
    const begun = (head: string): string[] => ids.map((id) => id.replace('HEAD', head.slice(0, 12)));
    const opened = openInMemory({ verify: ['build'], begun });
    const { ports, head } = opened;
    if (state === 'pure') ports.pure.add((await ports.workspaces.integrationAt('tidy', head)).workspace.path);
    opened.folders.splice(0);
    await verify(opened, failures === 0 ? {} : { checked: { candidate: head, command: 'build', failures } });
    expect(opened.folders.map((folder) => folder.split(' ')[0])).toEqual(folders);
    expect(opened.orders.at(-1)?.id).toBe(`verify-${head.slice(0, 12)}-1${failures === 0 ? '' : '-x2'}`);
  });

  it.each([
    ['moves the branch', { type: 'advanced' }, { type: 'branch-advanced', commit: 'c' }],
    ['leaves a branch that was moved', { type: 'moved', head: 'x' }, { type: 'branch-foreign', head: 'x' }],
    ['leaves a branch that was deleted', { type: 'moved', head: undefined }, { type: 'branch-foreign', head: null }],
  ] as const)('%s', async (_, answer, event) => {
    const moves: unknown[] = [];
    const advance: Workspaces['advance'] = async (...move) => {
      moves.push(move);
      return answer;
    };
    const ports = withGit(openInMemory().ports, { advance });
    const phase: At<'advancing'> = { at: 'advancing', commit: 'w', candidate: 'c', since: 0 };
    expect(await advanceBranch(ports, phase, 'head')).toEqual(event);
    expect(moves).toEqual([['tidy', 'head', 'c']]);
  });
});

describe('a branch that a person moved, and wants back', () => {
  const other = 'f'.repeat(40);
  const open = (found: string | undefined, asked: string | null | undefined) => {
    const opened = openInMemory();
    const { board, head } = opened;
    const foreign = { head: asked ?? null, question: 'q', way: 'restore' as const };
    const moved: Board = { ...board, branch: { ...board.branch, foreign: asked === undefined ? null : foreign } };
    const done: string[] = [];
    const git: Partial<Workspaces> = {
      runHead: async () => found,
      keepAttempt: async (run, name, commit) => void done.push(`keep ${run} ${name} ${commit}`),
      advance: async (run, from, to) => {
        done.push(`move ${run} ${from} ${to}`);
        return { type: 'advanced' };
      },
      createRunBranch: async (run, from) => {
        done.push(`make ${run} ${from}`);
        return { type: 'ready' };
      },
    };
    const restore = async (more: Partial<Workspaces> = {}) =>
      restoreBranch(withGit(opened.ports, { ...git, ...more }), moved);
    return { restore, done, head };
  };

  it('is moved back, and what it had is kept', async () => {
    const { restore, done, head } = open(other, other);
    expect(await restore()).toEqual({ type: 'branch-restored', restored: true, head, paths: [] });
    expect(done).toEqual([`keep tidy foreign-ffffffffffff ${other}`, `move tidy ${other} ${head}`]);
  });

  it('is made again if it was deleted', async () => {
    const { restore, done, head } = open(undefined, null);
    expect(await restore()).toEqual({ type: 'branch-restored', restored: true, head, paths: [] });
    expect(done).toEqual([`make tidy ${head}`]);
  });

  it('is back already if a person or an earlier engine moved it', async () => {
    const { head } = openInMemory();
    const { restore, done } = open(head, other);
    expect(await restore()).toEqual({ type: 'branch-restored', restored: true, head, paths: [] });
    expect(done).toEqual([]);
  });

  it.each([
    ['was moved since the question', 'e'.repeat(40), other, {}, 'e'.repeat(40)],
    ['was deleted since the question', undefined, other, {}, null],
    ['is one that nobody was asked about', 'e'.repeat(40), undefined, {}, 'e'.repeat(40)],
    ['was made again since the question', 'e'.repeat(40), null, {}, 'e'.repeat(40)],
    ['is made by another at the same moment', undefined, null, { createRunBranch: { type: 'taken', head: 'x' } }, 'x'],
    ['is moved at the same moment', other, other, { advance: { type: 'moved', head: 'x' } }, 'x'],
    ['is deleted at the same moment', other, other, { advance: { type: 'moved', head: undefined } }, null],
  ] as const)('is left alone, and asked about again, if it %s', async (_, found, asked, answers, head) => {
    const { restore } = open(found, asked);
    const git = Object.fromEntries(Object.entries(answers).map(([name, answer]) => [name, async () => answer]));
    expect(await restore(git)).toEqual({ type: 'branch-restored', restored: false, head, paths: [] });
  });
});
