import { describe, expect, it } from 'vitest';
import { boardCascades } from '../../src/rules/cascade.ts';
import { standInNotes } from '../../src/rules/conclude.ts';
import { isFree, lockKey, lockOn, locksOf, placesOf, standInFor } from '../../src/rules/stand-ins.ts';
import { noteAccount } from '../../src/rules/work-accounts.ts';
import { newWork } from '../../src/rules/work.ts';
import type { Board, LockOut } from '../../src/model/plan/board.ts';
import type { StoodIn } from '../../src/model/plan/stood-in.ts';
import type { Work } from '../../src/model/plan/work.ts';
import { member } from '../playbooks/simulator.ts';
import { boardWith, endedAs, stateOf } from './support.ts';

const lock = (account: string): LockOut => ({ account, kind: 'auth', why: 'expired', agent: 'ada', givenUp: false });
const ADA = { name: 'ada', account: 'a' };

interface About {
  readonly locked?: readonly (readonly [account: string, agent: string | null])[];
  readonly until?: Readonly<Record<string, number>>;
  readonly fallbacks?: Readonly<Record<string, string>>;
}

function boardOf({ locked = [], until = {}, fallbacks = { a: 'b', b: 'c' } }: About): Board {
  const accounts = Object.entries(until).map(([id, at]) => [id, { until: at, probe: null }] as const);
  return {
    ...boardWith([], { fallbacks }),
    now: 100,
    lockedOut: new Map(locked.map(([account, agent]) => [lockKey(account, agent), lock(account)])),
    accounts: new Map(accounts),
  };
}

describe('the accounts on which an agent can work', () => {
  it.each<[string, Readonly<Record<string, string>> | undefined, string[]]>([
    ['its own and those that stand in, in order', { a: 'b', b: 'c' }, ['a', 'b', 'c']],
    ['each once', { a: 'b', b: 'a' }, ['a', 'b']],
    ['its own alone', { b: 'c' }, ['a']],
    ['its own where none stands in', undefined, ['a']],
  ])('%s', (_name, fallbacks, expected) => {
    const { facts } = boardWith([]);
    expect(placesOf({ facts: fallbacks === undefined ? facts : { ...facts, fallbacks } }, 'a')).toEqual(expected);
  });
});

describe('who does the work of an agent', () => {
  it.each<[string, About, string | undefined]>([
    ['itself', {}, undefined],
    ['the one that stands in, while its own account is locked out', { locked: [['a', null]] }, 'b'],
    ['the one that stands in, while only the agent is locked out', { locked: [['a', 'ada']] }, 'b'],
    ['itself, while only another agent is locked out', { locked: [['a', 'bob']] }, undefined],
    [
      'the one after that',
      {
        locked: [
          ['a', null],
          ['b', 'ada'],
        ],
      },
      'c',
    ],
    ['the one that stands in, while its own is at its limit', { until: { a: 101 } }, 'b'],
    ['itself from the reset on', { until: { a: 100 } }, undefined],
    ['no one', { locked: [['a', null]], until: { b: 200, c: 200 } }, undefined],
  ] as [string, About, string | undefined][])('%s', (_name, about, expected) => {
    expect(standInFor(boardOf(about), ADA)).toBe(expected);
  });

  it.each<[string, About, string[] | undefined]>([
    ['nothing, without lock-outs', {}, undefined],
    [
      'nothing, while one account is left',
      {
        locked: [
          ['a', null],
          ['b', null],
        ],
      },
      undefined,
    ],
    [
      'all of them',
      {
        locked: [
          ['a', 'ada'],
          ['b', null],
          ['c', null],
        ],
      },
      ['a', 'b', 'c'],
    ],
  ] as [string, About, string[] | undefined][])('and what keeps it from all: %s', (_name, about, expected) => {
    expect(locksOf(boardOf(about), ADA)?.map(({ account }) => account)).toEqual(expected);
  });

  it('names the lock-out of the account before that of the agent', () => {
    const board = boardOf({
      locked: [
        ['a', 'ada'],
        ['a', null],
      ],
    });
    const whole = { ...lock('a'), why: 'of all' };
    expect(lockOn({ lockedOut: new Map(board.lockedOut).set('a', whole) }, 'ada', 'a')?.why).toBe('of all');
    expect(lockOn(boardOf({}), 'ada', 'a')).toBeUndefined();
  });
});

const STOOD: StoodIn = { agent: 'ada', account: 'b', insteadOf: 'a', review: null };

describe('what is noted of a turn', () => {
  const live = {
    at: 'live',
    attempt: 't-1',
    agent: 'ada',
    account: 'b',
    session: 's',
    stop: null,
    stall: null,
  } as const;
  const turn = { type: 'attempt-settled', attempt: 't-1', outcome: 'completed', text: '' } as const;
  const failure = { kind: 'network', message: 'm', mayHaveActed: true } as const;
  const failed = { ...turn, outcome: 'failed', failure } as const;
  const instead = { ...live, insteadOf: 'a' } as const;

  it.each<
    [string, Partial<Work>, typeof live | typeof instead, string | null, Parameters<typeof noteAccount>[3], object]
  >([
    ['the account of its author', {}, live, null, turn, { madeOn: ['b'], standIns: [] }],
    ['each account once', { madeOn: ['b'] }, live, null, turn, { madeOn: ['b'] }],
    ['nothing of a reviewer', {}, live, 'reviewer', turn, { madeOn: [], standIns: [] }],
    ['what may have acted', {}, live, null, failed, { madeOn: ['b'] }],
    [
      'nothing that cannot have acted',
      {},
      instead,
      null,
      { ...failed, failure: { ...failure, mayHaveActed: false } },
      { madeOn: [], standIns: [] },
    ],
    ['nothing that failed without a reason', {}, live, null, { ...turn, outcome: 'failed' }, { madeOn: [] }],
    ['who stood in', {}, instead, null, turn, { madeOn: ['b'], standIns: [STOOD] }],
    [
      'who stood in as reviewer',
      {},
      instead,
      'reviewer',
      turn,
      { madeOn: [], standIns: [{ ...STOOD, review: 'reviewer' }] },
    ],
    [
      "a reviewer on the author's own account",
      { madeOn: ['b'] },
      instead,
      'reviewer',
      turn,
      { standIns: [{ ...STOOD, review: 'reviewer', isAuthors: true }] },
    ],
  ])('%s', (_name, work, request, review, event, expected) => {
    expect(noteAccount({ ...newWork(), ...work }, request, review, event)).toMatchObject(expected);
  });

  it.each<[string, Partial<StoodIn>, number]>([
    ['the same again', {}, 1],
    ['another agent', { agent: 'bob' }, 2],
    ['another account', { account: 'c' }, 2],
    ['for another account', { insteadOf: 'z' }, 2],
    ['as a reviewer', { review: 'reviewer' }, 2],
    ["on the author's account", { isAuthors: true }, 2],
  ])('%s', (_name, more, count) => {
    const work = { ...newWork(), standIns: [{ ...STOOD, ...more }] };
    expect(noteAccount(work, instead, null, turn).standIns).toHaveLength(count);
  });
});

describe('what the report says of those who stood in', () => {
  it.each<[string, readonly (readonly StoodIn[])[], string[]]>([
    ['nothing', [[]], []],
    [
      'a line for each account',
      [
        [STOOD],
        [
          { ...STOOD, agent: 'bob' },
          { ...STOOD, account: 'c' },
        ],
      ],
      ['b stood in for a (ada, bob)', 'c stood in for a (ada)'],
    ],
    ['each agent once', [[STOOD], [STOOD]], ['b stood in for a (ada)']],
    [
      "reviews on the author's account",
      [[{ ...STOOD, isAuthors: true }], [{ ...STOOD, isAuthors: true }]],
      ['b stood in for a (ada)', "reviewed on the author's own runtime: t0, t1"],
    ],
  ])('%s', (_name, all, expected) => {
    const states = all.map((standIns, index) => stateOf(`t${index}`, {}, { standIns }));
    expect(standInNotes(boardWith(states))).toEqual(expected);
  });
});

describe('tasks that were cancelled because of one that they need', () => {
  const failed = stateOf('a', {}, { ...endedAs('failed'), attempts: 1 });
  const after = (work: Partial<Work>) => stateOf('b', { needs: ['a'] }, { ...endedAs('cancelled'), ...work });
  it.each<[string, Partial<Work>, [string, string[]][]]>([
    ['untouched', {}, [['a', ['b']]]],
    ['after an attempt', { attempts: 1 }, []],
    ['by a person', { override: { as: 'cancelled', by: 'dana', why: '' } }, []],
  ])('%s', (_name, work, expected) => {
    expect([...boardCascades(boardWith([failed, after(work)]))]).toEqual(expected);
  });
});

describe('whether an agent could start a turn now', () => {
  const roster = [member('zed', 'builder', { account: 'z' }), member('ada', 'builder', { account: 'a' })];
  const free = (about: About, more: Partial<Board> = {}, agent = 'ada') => {
    const board = boardOf(about);
    return isFree({ ...board, facts: { ...board.facts, roster }, ...more }, 't', agent);
  };
  const paused = (scope: string): Partial<Board> => ({
    pauses: new Map([[scope, { verb: 'pause', by: 'ada', at: 1 }]]),
  });
  const everywhere = [
    ['a', null],
    ['b', null],
    ['c', null],
  ] as const;

  it.each<[string, About, Partial<Board>, boolean]>([
    ['it could', {}, {}, true],
    ['not while it is paused', {}, paused('agent/ada'), false],
    ['while another is', {}, paused('agent/zed'), true],
    ['while its account is locked out, on another', { locked: [['a', null]] }, {}, true],
    ['not while all are', { locked: everywhere }, {}, false],
    ['while its account is at its limit, on another', { until: { a: 200 } }, {}, true],
    ['from the reset on', { until: { a: 100 }, fallbacks: {} }, {}, true],
    ['not before', { until: { a: 101 }, fallbacks: {} }, {}, false],
    [
      'not where one is locked out and the other at its limit',
      { locked: [['a', null]], until: { b: 200 }, fallbacks: { a: 'b' } },
      {},
      false,
    ],
    [
      'not on the runtime to which its task was switched, while that is locked out',
      { locked: [['x', null]] },
      { switches: new Map([['agent/ada', { runtime: 'x', model: null, seq: 1 }]]) },
      false,
    ],
  ])('%s', (_, about, more, expected) => expect(free(about, more)).toBe(expected));

  it('nobody can who is not in the team', () => expect(free({}, {}, 'ann')).toBe(false));
});
