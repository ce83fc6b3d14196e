import { describe, expect, it } from 'vitest';
import {
  depthOf,
  reaches,
  refuseEdit,
  refuseReopen,
  refuseSettle,
  refuseTask,
  refuseVerdict,
} from '../../src/rules/change-checks.ts';
import { DEFAULT_PLAN_LIMITS, type TaskState } from '../../src/model/plan/board.ts';
import type { PlanChange } from '../../src/model/plan/change.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import type { Phase } from '../../src/model/plan/work.ts';
import { boardWith, endedAs, liveRequest, newTask, REVIEWED, stateOf } from './support.ts';

const BASE: readonly TaskState[] = [stateOf('a'), { ...stateOf('deep'), depth: 3 }, { ...stateOf('less'), depth: 2 }];
const ADVANCING: Phase = { at: 'advancing', commit: 'c', candidate: 'm', since: 1 };

describe('a task that a plan adds', () => {
  it.each<[string, Partial<NewTask>, string | undefined]>([
    ['may be added', {}, undefined],
    ['may need others', { needs: ['a'], base: 'a', workspace: { read: 'a' }, integrate: false }, undefined],
    ['is a slug', { id: 'No' }, 'id: a task id is a slug: lower case, digits, dashes, at most 32'],
    [
      'is known by its place',
      { brief: { text: 7 as unknown as string } },
      'brief.text: Invalid input: expected string, received number',
    ],
    ['is there once', { id: 'a' }, 'there is a task a already'],
    ['does not need itself', { needs: ['t'] }, 't would need itself'],
    ['is not too deep', { parent: 'deep' }, 't would be 4 levels deep; 3 are allowed'],
    ['may be as deep as allowed', { parent: 'less' }, undefined],
    ['needs what is there', { needs: ['x'] }, 'there is no task x'],
    ['belongs to what is there', { parent: 'x' }, 'there is no task x'],
    ['shares the session of what is there', { session: { of: 'x' } }, 'there is no task x'],
    ['may share a session', { session: { of: 'a' } }, undefined],
    ['reads what is there', { workspace: { read: 'x' }, integrate: false }, 'there is no task x'],
    ['may read the run branch', { workspace: { read: 'run' }, integrate: false }, undefined],
    ['starts from what it needs', { base: 'a' }, 't starts from a, which is not among its needs'],
    [
      'reads what it needs',
      { workspace: { read: 'a' }, integrate: false },
      't starts from a, which is not among its needs',
    ],
    ['has a role that someone has', { role: 'cook' }, 'no agent has the role cook'],
    [
      'has reviewers',
      { review: { by: ['cook'], quorum: 'all', rounds: 1, criteria: [] } },
      'no agent has the role cook',
    ],
    ['has an agent that there is', { agent: 'eve' }, 'there is no agent eve'],
    ['may name its agent', { agent: 'bob' }, undefined],
    [
      'is integrated from a folder of its own',
      { workspace: 'none' },
      'only work in a folder of its own can be reviewed or integrated',
    ],
    [
      'is reviewed in a folder of its own',
      { workspace: 'none', integrate: false, ...REVIEWED },
      'only work in a folder of its own can be reviewed or integrated',
    ],
    ['needs no folder without that', { workspace: 'none', integrate: false }, undefined],
    [
      'is reviewed once by a role',
      { review: { by: ['reviewer', 'reviewer'], quorum: 'all', rounds: 1, criteria: [] } },
      'a role reviews once',
    ],
    [
      'is reviewed once by a role in all its reviews',
      { review: { ...REVIEWED.review!, id: 'A' }, laterReviews: [{ ...REVIEWED.review!, id: 'B' }] },
      'a role reviews once',
    ],
    [
      'has a name for each of its reviews',
      { review: REVIEWED.review!, laterReviews: [{ ...REVIEWED.review!, id: 'B', by: ['builder'] }] },
      'each of several reviews has an id of its own',
    ],
    [
      'is reviewed in the session of a task that there is',
      { review: { ...REVIEWED.review!, session: { of: 'nothing' } } },
      'there is no task nothing',
    ],
    ['may be a check', { kind: 'check', integrate: false, role: 'engine' }, undefined],
    [
      'is not reviewed as a check',
      { kind: 'check', integrate: false, ...REVIEWED },
      'a check is not reviewed and not integrated',
    ],
    ['is not integrated as a check', { kind: 'check' }, 'a check is not reviewed and not integrated'],
    ['requires something as a check', { kind: 'check', integrate: false, requires: [] }, 'a check requires something'],
    ['integrates a task', { kind: 'integrate', needs: ['a'], base: 'a' }, undefined],
    ['integrates nothing without a task', { kind: 'integrate' }, 'an integration names the task whose commit it takes'],
  ])('%s', (_name, more, expected) => {
    expect(refuseTask(boardWith(BASE), newTask('t', more))).toBe(expected);
  });

  it.each([
    [3, 'a plan has at most 3 tasks'],
    [4, undefined],
  ])('is one of at most %d', (tasks, expected) => {
    const board = boardWith(BASE, { limits: { ...DEFAULT_PLAN_LIMITS, tasks } });
    expect(refuseTask(board, newTask('t'))).toBe(expected);
  });

  it('is as deep as its parents', () => {
    expect(
      [{}, { parent: 'deep' }, { parent: 'x' }].map((more) => depthOf(boardWith(BASE), newTask('t', more))),
    ).toEqual([0, 4, 1]);
  });
});

describe('an edit', () => {
  type Edit = Extract<PlanChange, { do: 'edit-task' }>;
  const states = [stateOf('a'), stateOf('b', { needs: ['a'] }), stateOf('c', { needs: ['a'], base: 'a' })];
  it.each<[string, Partial<Edit>, readonly TaskState[], string | undefined]>([
    ['of what is there', { id: 'x' }, [], 'there is no task x'],
    ['of what is open', {}, [stateOf('a', {}, endedAs('done'))], 'a has ended'],
    [
      'of more than needs is possible while it works',
      { priority: 1 },
      [stateOf('a', {}, { author: liveRequest('a-1') })],
      undefined,
    ],
    [
      'of needs is not, while it works',
      { needs: [] },
      [stateOf('a', {}, { author: liveRequest('a-1') })],
      'a is at work',
    ],
    ['of needs is not, after that', { needs: [] }, [stateOf('a', {}, { phase: { at: 'gathering' } })], 'a is at work'],
    ['of needs names what is there', { needs: ['x'] }, [], 'there is no task x'],
    ['of needs makes no circle', { needs: ['b'] }, [], 'a would need itself'],
    [
      'of needs keeps what it starts from',
      { id: 'c', needs: ['b'] },
      [],
      'c starts from a, which is not among its needs',
    ],
    ['of needs may add to that', { id: 'c', needs: ['a', 'b'] }, [], undefined],
    ['of needs is possible', { id: 'b', needs: [] }, [], undefined],
    [
      'keeps the shape',
      { requires: [] },
      [stateOf('a', { kind: 'check', integrate: false })],
      'a check requires something',
    ],
    ['may require something else', { requires: [] }, [], undefined],
    ['names an agent that there is', { agent: 'eve' }, [], 'there is no agent eve'],
  ])('%s', (_name, change, more, expected) => {
    expect(refuseEdit(boardWith([...states, ...more]), { do: 'edit-task', id: 'a', ...change })).toBe(expected);
  });
});

it('a task reaches all that it needs', () => {
  const states = [stateOf('a'), stateOf('b', { needs: ['a', 'gone'] }), stateOf('c', { needs: ['b', 'c'] })];
  const pairs = [
    ['c', 'a'],
    ['c', 'c'],
    ['a', 'c'],
    ['x', 'a'],
    ['c', 'gone'],
  ] as const;
  expect(pairs.map(([from, to]) => reaches(boardWith(states), from, to))).toEqual([true, true, false, false, true]);
});

describe('an opening, an end and a verdict', () => {
  const reopen = (id: string) => ({ do: 'reopen-task', id, feedback: 'x', session: 'same' }) as const;
  const rounds = (round: number, granted = 0) => stateOf('a', REVIEWED, { ...endedAs('done'), round, granted });
  it.each<[string, TaskState, string, string | undefined]>([
    ['of what is there', rounds(1), 'x', 'there is no task x'],
    ['of what has ended', stateOf('a'), 'a', 'a is still at work'],
    ['within its rounds', rounds(2), 'a', undefined],
    ['after its rounds', rounds(3), 'a', 'a has used its 3 rounds'],
    ['with rounds that a person granted', rounds(3, 1), 'a', undefined],
    ['after the rounds of the run', stateOf('a', {}, { ...endedAs('done'), round: 4 }), 'a', 'a has used its 4 rounds'],
  ])('an opening %s', (_name, state, id, expected) => {
    expect(refuseReopen(boardWith([state]), reopen(id))).toBe(expected);
  });

  it.each<[Phase, 'failed' | 'skipped', string | undefined]>([
    [{ at: 'working' }, 'failed', undefined],
    [{ at: 'ended', as: 'done', cause: null, why: '' }, 'failed', undefined],
    [{ at: 'ended', as: 'done', cause: null, why: '' }, 'skipped', 'a has ended'],
    [{ at: 'ended', as: 'failed', cause: null, why: '' }, 'failed', 'a has ended'],
    [{ at: 'stopping', as: 'failed', why: '' }, 'failed', 'a is being stopped'],
    [ADVANCING, 'failed', 'a is being delivered'],
  ])('an end in %j as %s', (phase, as, expected) => {
    const change = { do: 'settle-task', id: 'a', as, why: '' } as const;
    expect(refuseSettle(boardWith([stateOf('a', {}, { phase })]), change)).toBe(expected);
    expect(refuseSettle(boardWith([]), change)).toBe('there is no task a');
  });

  const criteria = [{ text: 'x' }, { text: 'y', command: 'make' }, { text: 'z', proposed: 'make' }];
  const objective = { title: '', goals: [], criteria, constraints: [], context: '', text: '' };
  it.each<[string, number, Partial<NewTask>, string | undefined]>([
    ['a', 0, { workspace: { read: 'run' } }, undefined],
    ['a', 3, {}, 'the objective has no criterion 3'],
    ['a', 1, {}, 'a command decides on criterion 1'],
    ['a', 2, {}, 'a command decides on criterion 2'],
    ['x', 0, {}, 'there is no task x'],
    ['a', 0, {}, 'a does not read the run branch'],
    ['a', 0, { workspace: { read: 'b' } }, 'a does not read the run branch'],
  ])('a verdict of %s on %d, %j', (id, criterion, more, expected) => {
    expect(refuseVerdict(boardWith([stateOf('a', more)], { objective }), id, criterion)).toBe(expected);
  });
});
