import { describe, expect, it } from 'vitest';
import { applyChanges } from '../../src/rules/apply-changes.ts';
import { applyWork } from '../../src/rules/plan-step.ts';
import { createBoard } from '../../src/rules/board.ts';
import { decideFrontier } from '../../src/rules/frontier.ts';
import { ROOM_FOR_ALL, type Room } from '../../src/model/spending.ts';
import type { Board, Pause, Member, LimitedAccount } from '../../src/model/plan/board.ts';
import type { PlanChange } from '../../src/model/plan/change.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import type { WorkEvent } from '../../src/model/plan/work.ts';
import { factsOf, failed, member } from '../playbooks/simulator.ts';
import { FACTS, newTask } from './support.ts';
import { ALL_FIXED, finding } from '../support/findings.ts';

const AT = { seq: 1, at: 1_000 };
const PAIR = [member('bob', 'builder'), member('cyd', 'builder')];

function make(tasks: readonly NewTask[], roster: readonly Member[] = PAIR, more: readonly PlanChange[] = []): Board {
  const changes = [...tasks.map((task) => ({ do: 'add-task', task }) as const), ...more];
  return applyChanges(createBoard(factsOf(roster)), changes, AT).board;
}

function withFallbacks(board: Board, fallbacks: Readonly<Record<string, string>>): Board {
  return { ...board, facts: { ...board.facts, fallbacks } };
}

function after(board: Board, task: string, ...events: readonly WorkEvent[]): Board {
  return events.reduce((now, event) => applyWork(now, task, event, AT).board, board);
}

function begun(attempt: string, agent: string, review: string | null = null): WorkEvent {
  return { type: 'attempt-started', attempt, agent, account: `account-${agent}`, session: `s-${attempt}`, review };
}

const done = (attempt: string): WorkEvent => ({ type: 'attempt-settled', attempt, outcome: 'completed', text: 'ok' });
const cut = (attempt: string): WorkEvent => ({
  ...{ type: 'attempt-settled', attempt, outcome: 'failed', text: '' },
  ...failed('output-truncated'),
});
const rejected = (attempt: string): WorkEvent => ({
  ...{ type: 'attempt-settled', attempt, outcome: 'completed', text: '' },
  output: { approved: false, summary: 's', findings: [finding(`no ${attempt}`)], settled: ALL_FIXED },
});
const seen = (commit: string): WorkEvent => ({ type: 'evidence-gathered', facts: { ...FACTS, commit } });

function roomBut(...full: readonly string[]): Room {
  return { ...ROOM_FOR_ALL, agent: (name) => (full.includes(name) ? 'turns: 1 of 1 used' : undefined) };
}

/** Who starts, in which session; or else why nobody does. */
function picked(board: Board, room = ROOM_FOR_ALL): unknown {
  const { starts, waiting, over, unstaffed } = decideFrontier(board, 9, room);
  const turns = starts.flatMap((start) => (start.start === 'turn' ? [start] : []));
  return [
    ...turns.map(({ agent, session }) => `${agent}, ${session.resume ? 'again' : 'new'}: ${session.key}`),
    ...[...waiting, ...over, ...unstaffed].map(({ why }) => why),
  ];
}

const parked = (accounts: Record<string, LimitedAccount>): Partial<Board> => ({
  accounts: new Map(Object.entries(accounts)),
});
const paused = (...names: readonly string[]): Partial<Board> => ({
  pauses: new Map(names.map((name): [string, Pause] => [`agent/${name}`, { verb: 'pause', by: 'ada', at: 1 }])),
});
const lockedOut = (...accounts: readonly [string, boolean][]): Partial<Board> => ({
  lockedOut: new Map(
    accounts.map(([name, givenUp]) => {
      const account = `account-${name}`;
      return [account, { account, kind: 'auth', why: 'expired', agent: name, givenUp }];
    }),
  ),
});
const until = (at: number, probe: string | null = null): LimitedAccount => ({ until: at, probe });
const SPARE = [member('bob', 'builder')];
const FALLBACKS = { 'account-bob': 'other' };

describe('who does it', () => {
  const one = make([newTask('a')]);
  const spare = withFallbacks(make([newTask('a')], SPARE), FALLBACKS);
  const limit = (who: string, at: number | null) => [
    { task: 'a', why: `waiting for ${who}, at its usage limit`, until: at, paused: false },
  ];
  it.each<[string, Board, readonly object[]]>([
    [
      'waits for the first of the limits',
      { ...one, ...parked({ 'account-bob': until(9_000), 'account-cyd': until(5_000) }) },
      limit('account-bob or account-cyd', 5_000),
    ],
    [
      'waits for one limit that all share, once',
      {
        ...make(
          [newTask('a')],
          [member('bob', 'builder', { account: 'x' }), member('cyd', 'builder', { account: 'x' })],
        ),
        ...parked({ x: until(5_000) }),
      },
      limit('x', 5_000),
    ],
    [
      'waits without a date for a probe',
      { ...one, ...parked({ 'account-bob': until(1_000, 'x-1'), 'account-cyd': until(5_000) }) },
      limit('account-bob or account-cyd', null),
    ],
    [
      'waits for the limit of who is not paused',
      { ...one, ...paused('bob'), ...parked({ 'account-cyd': until(5_000) }) },
      limit('account-cyd', 5_000),
    ],
    [
      'waits for a person where all are paused, whatever their limits',
      { ...one, ...paused('bob', 'cyd'), ...parked({ 'account-cyd': until(5_000) }) },
      [{ task: 'a', why: 'bob, cyd paused', until: null, paused: true }],
    ],
    [
      'waits for who is busy',
      after(make([newTask('a'), newTask('b')], [member('bob', 'builder', { capacity: 1 })]), 'b', begun('b-1', 'bob')),
      [{ task: 'a', why: 'all agents that can do it are busy', until: null, paused: false }],
    ],
    [
      'has no stand-in for who is paused',
      { ...spare, ...paused('bob'), ...parked({ 'account-bob': until(5_000) }) },
      [{ task: 'a', why: 'bob paused', until: null, paused: true }],
    ],
    [
      'has no stand-in at a limit of its own',
      { ...spare, ...parked({ 'account-bob': until(5_000), other: until(4_000) }) },
      limit('account-bob or other', 4_000),
    ],
  ])('%s', (_title, board, held) => {
    expect(decideFrontier(board, 9)).toEqual({ starts: [], waiting: held, unstaffed: [], over: [] });
  });

  it.each<[string, Board, Room, readonly string[]]>([
    [
      'the same one on the stand-in of its account, which is at a limit',
      { ...spare, ...parked({ 'account-bob': until(5_000) }) },
      ROOM_FOR_ALL,
      ['bob'],
    ],
    ['a colleague of who is paused', { ...one, ...paused('bob') }, ROOM_FOR_ALL, ['cyd']],
    ['the named one and nobody else', make([newTask('a', { agent: 'cyd' })]), ROOM_FOR_ALL, ['cyd']],
    [
      'as many as have places',
      make([newTask('a'), newTask('b'), newTask('c')], [member('bob', 'builder', { capacity: 2 })]),
      ROOM_FOR_ALL,
      ['bob', 'bob'],
    ],
    [
      'whose limit is not the account’s of another',
      { ...one, ...parked({ other: until(5_000) }) },
      ROOM_FOR_ALL,
      ['bob'],
    ],
    ['who has room', one, roomBut('bob'), ['cyd']],
  ])('is %s', (_title, board, room, agents) => {
    const { starts } = decideFrontier(board, 9, room);
    expect(starts.map((start) => (start.start === 'turn' ? start.agent : start.start))).toEqual(agents);
  });

  it('is nobody once all have used up what they may use, each with its limit', () => {
    const why = ['bob', 'cyd'].map((name) => `${name} has reached its limit (turns: 1 of 1 used)`).join('; ');
    expect(picked(one, roomBut('bob', 'cyd'))).toEqual([why]);
  });
});

describe('without a login', () => {
  const pair = make([newTask('a')]);
  const nobody = { starts: [], waiting: [], unstaffed: [], over: [] };
  const waits = (why: string, at: number | null = null, isPaused = false) => ({
    ...nobody,
    waiting: [{ task: 'a', why, until: at, paused: isPaused }],
  });

  it.each<[string, Partial<Board>, object]>([
    [
      'waits while a person can still mend one of the accounts',
      lockedOut(['bob', true], ['cyd', false]),
      waits('no working login or payment for account-bob and account-cyd'),
    ],
    [
      'has nobody left once a person gave up on all of them',
      lockedOut(['bob', true], ['cyd', true]),
      {
        ...nobody,
        unstaffed: [
          {
            task: 'a',
            why: 'no working login or payment for account-bob and account-cyd, and a person gave up on it',
          },
        ],
      },
    ],
    [
      'names no account of an agent that is paused',
      { ...lockedOut(['bob', false]), ...paused('cyd') },
      waits('no working login or payment for account-bob'),
    ],
    [
      'names none that is locked out and paused as well',
      { ...lockedOut(['bob', false], ['cyd', false]), ...paused('cyd') },
      waits('no working login or payment for account-bob'),
    ],
    [
      'waits for the one at a usage limit, not for the one without a login',
      { ...lockedOut(['bob', false]), ...parked({ 'account-cyd': until(5_000) }) },
      waits('waiting for account-cyd, at its usage limit', 5_000),
    ],
  ])('%s', (_title, board, expected) => {
    expect(decideFrontier({ ...pair, ...board }, 9)).toEqual(expected);
  });

  it('a colleague or a stand-in takes it', () => {
    expect(picked({ ...pair, ...lockedOut(['bob', false]) })).toEqual(['cyd, new: a/author/cyd/1']);
    const spare = withFallbacks(make([newTask('a')], SPARE), { 'account-bob': 'account-eve', 'account-eve': 'last' });
    const on = (board: Board) =>
      decideFrontier(board, 9).starts.map((start) => (start.start === 'turn' ? start.account : ''));
    expect(on({ ...spare, ...lockedOut(['bob', true]) })).toEqual(['account-eve']);
    expect(on({ ...spare, ...lockedOut(['bob', false], ['eve', false]) })).toEqual(['last']);
    expect(picked({ ...spare, ...lockedOut(['bob', false], ['eve', false]) })).toEqual(['bob, new: a/author/bob/1']);
    const ring = withFallbacks(spare, { 'account-bob': 'account-eve', 'account-eve': 'account-bob' });
    expect(picked({ ...ring, ...lockedOut(['bob', false], ['eve', false]) })).toEqual([
      'no working login or payment for account-bob and account-eve',
    ]);
  });
});

describe('who judges', () => {
  const task = newTask('a', { review: { by: ['reviewer'], quorum: 'all', rounds: 4, criteria: ['works'] } });
  const built = (roster: readonly Member[]) =>
    after(make([task], roster), 'a', begun('a-1', 'bob'), done('a-1'), seen('c1'));

  it('is the same reviewer on the stand-in of its account, also where an author works on that', () => {
    const limited = { ...built([...PAIR, member('rex', 'reviewer')]), ...parked({ 'account-rex': until(5_000) }) };
    expect(picked(limited)).toEqual(['waiting for account-rex, at its usage limit']);
    const helped = withFallbacks(limited, { 'account-rex': 'account-bob' });
    expect(picked(helped)).toEqual(['rex, new: a/reviewer/rex/2']);
    expect(decideFrontier(helped, 9).starts).toMatchObject([{ account: 'account-bob', insteadOf: 'account-rex' }]);
  });

  it('is nobody where all of the role are its authors', () => {
    const alone = { ...built([...PAIR, member('rex', 'reviewer')]), facts: factsOf([member('bob', 'reviewer')]) };
    expect(picked(alone)).toEqual(['only its author bob has the role reviewer, and an author cannot review']);
    const twice = after(
      make([task], [...PAIR, member('rex', 'reviewer')]),
      'a',
      ...[begun('a-1', 'bob'), cut('a-1'), begun('a-2', 'cyd'), done('a-2'), seen('c1')],
    );
    expect(picked({ ...twice, facts: factsOf([member('cyd', 'reviewer')]) })).toEqual([
      'only its author bob, cyd has the role reviewer, and an author cannot review',
    ]);
  });

  it('is nobody whose answers about this commit were unusable, in this role alone', () => {
    const both = newTask('a', {
      review: { by: ['reviewer', 'tester'], quorum: 'all', rounds: 4, criteria: ['works'] },
    });
    const roster = [...PAIR, member('rex', 'reviewer'), member('tom', 'tester')];
    const board = after(make([both], roster), 'a', begun('a-1', 'bob'), done('a-1'), seen('c1'));
    const a = board.tasks.get('a')!;
    const { phase } = a.work;
    if (phase.at !== 'reviewing') throw new Error('not in review');
    const tried = (role: string, ...names: string[]): Board => {
      const slots = phase.slots.map((slot) => (slot.role === role ? { ...slot, tried: names } : slot));
      return { ...board, tasks: board.tasks.with({ ...a, work: { ...a.work, phase: { ...phase, slots } } }) };
    };
    expect(picked(board)).toEqual(['rex, new: a/reviewer/rex/2', 'tom, new: a/tester/tom/2']);
    expect(picked(tried('tester', 'rex'))).toEqual(picked(board));
    expect(picked(tried('reviewer', 'tom'))).toEqual(picked(board));
    expect(picked(tried('reviewer', 'rex'))).toEqual([
      'tom, new: a/tester/tom/2',
      'only its author bob has the role reviewer, and an author cannot review',
    ]);
  });

  it('never does the work later, whichever round it judged, unless a person names it', () => {
    const roster = ['rex', 'bob', 'rio', 'dan'].map((name) => member(name, 'builder'));
    const judges = newTask('a', {
      ...task,
      review: { by: ['builder'], quorum: 'all', rounds: 4, criteria: ['works'] },
    });
    const board = after(
      make([judges], roster),
      'a',
      ...[begun('a-1', 'bob'), done('a-1'), seen('c1'), begun('a-2', 'rex', 'builder'), rejected('a-2')],
      ...[begun('a-3', 'bob'), done('a-3'), seen('c2'), begun('a-4', 'rio', 'builder'), rejected('a-4')],
    );
    expect(picked(board)).toEqual(['bob, again: s-a-3']);
    expect(picked(board, roomBut('bob'))).toEqual(['dan, new: a/author/dan/5']);
    expect(decideFrontier(board, 9, roomBut('bob', 'dan')).over).toMatchObject([{ task: 'a' }]);
    expect(picked({ ...board, ...parked({ 'account-bob': until(5_000) }) })).toEqual([
      'waiting for account-bob, at its usage limit',
    ]);
    const a = board.tasks.get('a')!;
    const asked = { ...a.work, reviewers: { ...a.work.reviewers, other: { key: 's', agent: 'dan' } } };
    const unheard = { ...board, tasks: board.tasks.with({ ...a, work: asked }) };
    expect(decideFrontier(unheard, 9, roomBut('bob')).over).toMatchObject([{ task: 'a' }]);
    const named = { ...board, tasks: board.tasks.with({ ...a, task: { ...a.task, agent: 'rex' } }) };
    expect(picked(named)).toEqual(['rex, new: a/author/rex/5']);
    expect(picked(after(named, 'a', begun('a-5', 'rex'), cut('a-5')))).toEqual(['rex, again: s-a-5']);
  });
});

describe('the session', () => {
  const first = (session: NewTask['session'], more: Partial<NewTask> = {}) =>
    after(
      make([newTask('a', { requires: [] }), newTask('b', { session, ...more })]),
      'a',
      ...[begun('a-1', 'cyd'), cut('a-1'), { type: 'settle-asked', as: 'skipped', why: 'enough' } as const],
    );
  const switched: Partial<Board> = {
    switches: new Map([['agent/bob', { runtime: 'codex', model: null, seq: 7 }]]),
  };

  it.each<[string, Board, Room, readonly string[]]>([
    ['new', first('new'), ROOM_FOR_ALL, ['bob, new: b/author/bob/1']],
    ['of another task, with its agent', first({ of: 'a' }), ROOM_FOR_ALL, ['cyd, again: s-a-1']],
    ['of another task, whose agent has no room', first({ of: 'a' }), roomBut('cyd'), ['bob, new: b/author/bob/1']],
    [
      'of another task, for another agent',
      first({ of: 'a' }, { agent: 'bob' }),
      ROOM_FOR_ALL,
      ['bob, new: b/author/bob/1'],
    ],
    [
      'of a task that nobody began',
      make([newTask('a'), newTask('b', { session: { of: 'a' } })], PAIR, [
        { do: 'settle-task', id: 'a', as: 'skipped', why: 'no' },
      ]),
      ROOM_FOR_ALL,
      ['bob, new: b/author/bob/1'],
    ],
    ['of its agent', make([newTask('b', { session: 'agent' })]), ROOM_FOR_ALL, ['bob, again: agent/bob']],
    [
      'of its agent, by another runtime',
      { ...make([newTask('b', { session: 'agent' })]), ...switched },
      ROOM_FOR_ALL,
      ['bob, again: agent/bob/7'],
    ],
    [
      'of its agent, where another one was switched',
      { ...make([newTask('b', { session: 'agent', agent: 'cyd' })]), ...switched },
      ROOM_FOR_ALL,
      ['cyd, again: agent/cyd'],
    ],
    [
      'the one it had',
      after(make([newTask('b')]), 'b', begun('b-1', 'cyd'), cut('b-1')),
      ROOM_FOR_ALL,
      ['cyd, again: s-b-1'],
    ],
    [
      'none that it had, for another agent',
      after(make([newTask('b')]), 'b', begun('b-1', 'cyd'), cut('b-1')),
      roomBut('cyd'),
      ['bob, new: b/author/bob/2'],
    ],
  ])('is %s', (_title, board, room, expected) => {
    expect(picked(board, room)).toEqual(expected);
  });

  it('of a task that is not in the plan is a new one', () => {
    const board = make([newTask('b')]);
    const b = board.tasks.get('b')!;
    const lost = { ...board, tasks: board.tasks.with({ ...b, task: { ...b.task, session: { of: 'x' } } }) };
    expect(picked(lost)).toEqual(['bob, new: b/author/bob/1']);
  });

  it.each<[NewTask['session']]>([['agent'], [{ of: 'a' }], ['new']])(
    'that must not be resumed is left behind, also with %j',
    (session) => {
      const board = after(
        make([newTask('a'), newTask('b', { session, agent: 'bob' })]),
        'b',
        begun('b-1', 'bob'),
        cut('b-1'),
      );
      const fresh = after(board, 'b', { type: 'retry-asked', fresh: true, note: null });
      expect(picked(fresh)).toContain('bob, new: b/author/bob/2');
    },
  );

  it('of a review is its own, whatever the author’s is', () => {
    const task = newTask('a', {
      session: 'agent',
      review: { by: ['reviewer'], quorum: 'all', rounds: 4, criteria: ['works'] },
    });
    const board = after(
      make([task], [...PAIR, member('rex', 'reviewer')]),
      'a',
      begun('a-1', 'bob'),
      done('a-1'),
      seen('c1'),
    );
    expect(picked(board)).toEqual(['rex, new: a/reviewer/rex/2']);
    const again = after(board, 'a', begun('a-2', 'rex', 'reviewer'), cut('a-2'));
    expect(picked(again)).toEqual(['rex, again: s-a-2']);
  });
});
