import { describe, expect, it } from 'vitest';
import { applyChanges } from '../../src/rules/apply-changes.ts';
import { decideBase } from '../../src/rules/base.ts';
import { applyWork } from '../../src/rules/plan-step.ts';
import { createBoard } from '../../src/rules/board.ts';
import { decideFrontier } from '../../src/rules/frontier.ts';
import { decideNext, type NextFacts } from '../../src/rules/next.ts';
import type { Board, Member } from '../../src/model/plan/board.ts';
import type { PlanChange } from '../../src/model/plan/change.ts';
import type { NewTask, TaskEnd } from '../../src/model/plan/task.ts';
import { factsOf, failed, member } from '../playbooks/simulator.ts';
import { newTask } from './support.ts';

const AT = { seq: 1, at: 1_000 };
const FREE: NextFacts = {
  parallel: 2,
  limits: { reached: false },
  now: 1_000,
  draining: false,
  patienceMs: null,
  pendingMail: 0,
};
const LIMITED: NextFacts = { ...FREE, limits: { reached: true, why: 'usd: 1 of 1 used' } };

function make(tasks: NewTask[], roster: Member[] = [member('bob', 'builder')], more: PlanChange[] = []): Board {
  const changes = [...tasks.map((task) => ({ do: 'add-task', task }) as const), ...more];
  return applyChanges(createBoard(factsOf(roster)), changes, AT).board;
}

function start(board: Board, task: string, attempt = `${task}-1`): Board {
  const who = { agent: 'bob', account: 'account-bob', session: `${task}/x`, review: null } as const;
  return applyWork(board, task, { type: 'attempt-started', attempt, ...who }, AT).board;
}

const QUESTION = 'engine/setup-failed';

/** Its task a waits for the operator's answer. */
function asked(board: Board): Board {
  const stuck = { outcome: 'failed', text: '', ...failed('setup-failed') } as const;
  return applyWork(start(board, 'a'), 'a', { type: 'attempt-settled', attempt: 'a-1', ...stuck }, AT).board;
}

function skip(id: string): PlanChange {
  return { do: 'settle-task', id, as: 'skipped', why: 'by hand' };
}

function names(board: Board, free = 9): string[] {
  return decideFrontier(board, free).starts.map(({ task }) => task);
}

describe('decideFrontier', () => {
  const many = [newTask('a'), newTask('b', { priority: 1 }), newTask('c', { needs: ['a'] }), newTask('d')];

  it('takes what is ready: by priority, then by arrival, as many as are free', () => {
    expect(names(make(many))).toEqual(['b', 'a', 'd']);
    expect(names(make(many), 2)).toEqual(['b', 'a']);
    expect(names(make(many), 0)).toEqual([]);
    expect(names(make(many, undefined, [skip('a')]))).toEqual(['b', 'c', 'd']);
  });

  it('puts work under way before new work', () => {
    const lost = {
      type: 'attempt-settled',
      attempt: 'd-1',
      text: '',
      outcome: 'failed',
      ...failed('cancelled'),
    } as const;
    expect(names(applyWork(start(make(many), 'd'), 'd', lost, AT).board)).toEqual(['b', 'd', 'a']);
  });

  it('keeps to one attempt a session, and to capacities', () => {
    const agents = [newTask('a', { session: 'agent' }), newTask('b', { session: 'agent' })];
    expect(names(make(agents))).toEqual(['a']);
    expect(names(make([newTask('a'), newTask('b')], [member('bob', 'builder', { capacity: 1 })]))).toEqual(['a']);
  });

  it('spreads work over the agents of a role', () => {
    const board = make([newTask('a'), newTask('b')], [member('bob', 'builder'), member('cyd', 'builder')]);
    expect(decideFrontier(board, 9).starts).toMatchObject([{ agent: 'bob' }, { agent: 'cyd' }]);
  });

  it('holds back what an open question blocks', () => {
    expect(names(asked(make(many)))).toEqual(['b', 'd']);
  });

  it('parks an account, lets one probe through, and hands over to a fallback', () => {
    const limit = {
      type: 'attempt-settled',
      attempt: 'a-1',
      text: '',
      outcome: 'failed',
      ...failed('rate-limited'),
    } as const;
    const parked = (roster?: Member[]) => applyWork(start(make(many, roster), 'a'), 'a', limit, AT).board;
    expect(decideFrontier(parked(), 9)).toMatchObject({ starts: [], waiting: [{ until: 61_000 }, {}, {}] });
    expect(names({ ...parked(), now: 61_000 })).toEqual(['b']);
    const limited = parked();
    const { account } = limited.facts.roster[0]!;
    const covered = { ...limited, facts: { ...limited.facts, fallbacks: { [account]: 'other' } } };
    expect(decideFrontier(covered, 1).starts).toMatchObject([
      {
        task: 'b',
        agent: limited.facts.roster[0]!.name,
        account: 'other',
        insteadOf: account,
        session: { resume: false },
      },
    ]);
  });
});

it.each([
  ['after', 900_000, undefined, 900_000],
  ['before', undefined, 900_000, 900_000],
])('a limit without a date that is told %s one with a date does not wake the account early', (_, one, other, at) => {
  const both = start(start(make([newTask('a'), newTask('b')]), 'a'), 'b');
  const limit = (attempt: string, retryAt: number | undefined) => {
    const limited = { kind: 'rate-limited', message: '429', mayHaveActed: false } as const;
    const failure = retryAt === undefined ? limited : { ...limited, retryAt };
    return { type: 'attempt-settled', attempt, text: '', outcome: 'failed', failure } as const;
  };
  const first = applyWork(both, 'a', limit('a-1', one), AT);
  const second = applyWork(first.board, 'b', limit('b-1', other), AT);
  expect(second.board.accounts.get('account-bob')).toEqual({ until: at, probe: null });
  // The last one that is set is the one that fires.
  expect(second.effects).toEqual([{ effect: 'set-timer', id: 'engine/account/account-bob', at }]);
});

describe('decideBase', () => {
  const board = make([newTask('a'), newTask('b', { needs: ['a'] })]);
  const a = board.tasks.get('a')!;
  const ended = (as: TaskEnd) => {
    const phase = { at: 'ended', as, cause: null, why: '' } as const;
    return board.tasks.with({ ...a, work: { ...a.work, commit: 'c1', phase } });
  };
  const built = ended('done');
  it.each<[string, NewTask, object]>([
    ['no needs', newTask('x'), { base: 'run-head' }],
    ['all needs delivered', newTask('x', { needs: ['a'] }), { base: 'run-head' }],
    ['a need that is not', newTask('x', { needs: ['a', 'b'] }), { base: 'not-yet', why: 'waits for b' }],
    ['one task', newTask('x', { needs: ['a'], base: 'a' }), { base: 'commit', commit: 'c1' }],
    ['reading one task', newTask('x', { needs: ['a'], workspace: { read: 'a' } }), { base: 'commit', commit: 'c1' }],
    ['reading the run', newTask('x', { workspace: { read: 'run' } }), { base: 'run-head' }],
    ['no folder', newTask('x', { workspace: 'none' }), { base: 'none' }],
  ])('%s', (_title, task, expected) => {
    expect(decideBase(task, { tasks: built })).toEqual(expected);
  });

  const readers = [
    newTask('x', { needs: ['a'], base: 'a' }),
    newTask('x', { needs: ['a'], base: 'a', review: { by: ['reviewer'], quorum: 'all', rounds: 1, criteria: [] } }),
    newTask('x', { needs: ['a'], workspace: { read: 'a' } }),
    newTask('x', { needs: ['a'], workspace: 'none', base: 'a' }),
  ];
  it.each<[TaskEnd, object]>([
    ['done', { base: 'commit', commit: 'c1' }],
    ['skipped', { base: 'run-head' }],
    ['failed', { base: 'not-yet', why: 'waits for a' }],
    ['cancelled', { base: 'not-yet', why: 'waits for a' }],
  ])('of a task that has a commit and ended as %s', (as, expected) => {
    for (const task of readers) expect(decideBase(task, { tasks: ended(as) })).toEqual(expected);
  });

  it.each<[TaskEnd, string | null]>([
    ['done', 'c1'],
    ['skipped', null],
  ])('an integration takes the commit of a task that ended as %s: %s', (as, commit) => {
    const integration = newTask('x', { kind: 'integrate', needs: ['a'], base: 'a' });
    const planned = make([newTask('a'), integration]);
    const tasks = planned.tasks.with(ended(as).get('a')!);
    expect(decideFrontier({ ...planned, tasks }, 4).starts).toEqual([{ start: 'integrate', task: 'x', commit }]);
  });
});

const PASSED = 'the deadline 1970-01-01 00:00:01 UTC has passed; no turn starts after it';
const late = (board: Board): Board => ({
  ...board,
  facts: { ...board.facts, objective: { ...board.facts.objective, deadline: 1_000 } },
});
const parkedUntil = (until: number): Board => ({
  ...make([newTask('a')]),
  accounts: new Map([['account-bob', { until, probe: null }]]),
});

describe('decideNext', () => {
  const one = [newTask('a')];
  const timer = { do: 'set-timer', id: 't', at: 9_000 } as const;
  it.each<[string, Board, NextFacts, object]>([
    ['starts', make(one), FREE, { next: 'start', why: '1 task ready' }],
    ['waits for what lives', start(make(one), 'a'), FREE, { next: 'wait', until: null, why: '1 attempt live' }],
    ['starts nothing above a limit', make(one), LIMITED, { next: 'stop', because: 'limit', why: 'usd: 1 of 1 used' }],
    ['lets live turns end first', start(make(one), 'a'), LIMITED, { next: 'wait' }],
    ['starts nothing at the deadline', late(make(one)), FREE, { next: 'stop', because: 'deadline', why: PASSED }],
    ['starts before the deadline', late(make(one)), { ...FREE, now: 999 }, { next: 'start' }],
    ['lets live turns end after it', late(start(make(one), 'a')), FREE, { next: 'wait', suspended: false }],
    ['waits for no reset after it', late(parkedUntil(9_000)), FREE, { next: 'stop', because: 'deadline' }],
    ['waits for the reset before it', late(parkedUntil(9_000)), { ...FREE, now: 999 }, { next: 'wait', until: 9_000 }],
    ['asks nothing after it', late(asked(make(one))), FREE, { next: 'stop', because: 'deadline' }],
    [
      'stops where only the playbook could end it',
      late(make(one, undefined, [skip('a')])),
      FREE,
      { next: 'stop', because: 'deadline' },
    ],
    ['starts where a person said so', { ...late(make(one)), pastDeadline: 'ada' }, FREE, { next: 'start' }],
    ['stays drained', late(make(one)), { ...FREE, draining: true }, { next: 'stop', because: 'drained' }],
    ['stops when drained', make(one), { ...FREE, draining: true }, { next: 'stop', because: 'drained' }],
    ['asks when nothing else moves', asked(make(one)), FREE, { next: 'ask', questions: [{ id: QUESTION }] }],
    ['does not ask while work lives', start(asked(make([...one, newTask('b')])), 'b'), FREE, { next: 'wait' }],
    ['does not ask before a timer', asked(make(one, undefined, [timer])), FREE, { next: 'wait', until: 9_000 }],
    ['does not ask before mail', asked(make(one)), { ...FREE, pendingMail: 1 }, { next: 'wait' }],
    ['ends when all has ended', make(one, undefined, [skip('a')]), FREE, { next: 'finish', outcome: 'done' }],
    [
      'ends when the rest can never start',
      make([...one, newTask('b', { needs: ['a'] })], undefined, [{ ...skip('a'), as: 'failed' } as PlanChange]),
      FREE,
      { next: 'finish', outcome: 'failed', why: 'b cannot start: tasks that they need have failed' },
    ],
    ['ends an empty plan', make([]), FREE, { next: 'finish', outcome: 'done' }],
  ])('%s', (_title, board, facts, expected) => {
    expect(decideNext(board, facts)).toMatchObject(expected);
  });
});

describe('the limits of all runs together', () => {
  const one = [newTask('a')];
  const two = [newTask('a'), newTask('b')];
  const until = 9_000;
  const tomorrow = { free: 0, reached: { why: 'USD 5 of 5', until } };
  const withheld = { why: 'USD 5 of 5', until };
  const full = { free: 0, reached: undefined };
  const atOnce = { why: expect.stringContaining('at once') as string, until: null };

  it('leave less to a run than it could start', () => {
    const next = decideNext(make(two), { ...FREE, shared: { free: 1, reached: undefined } });
    expect(next).toMatchObject({ next: 'start', starts: [{ task: 'a' }], withheld: atOnce });
    const all = decideNext(make(two), { ...FREE, shared: { free: 2, reached: undefined } });
    expect([all.next, 'withheld' in all]).toEqual(['start', false]);
  });

  it('reached for a day: the run waits for the next one, or ends where it waits for nothing', () => {
    const board = make(two);
    expect(decideNext(board, { ...FREE, shared: tomorrow })).toEqual({
      ...{ next: 'wait', until, why: 'USD 5 of 5', suspended: true, withheld },
    });
    expect(decideNext(board, { ...FREE, shared: tomorrow, patienceMs: 10 })).toMatchObject({
      ...{ next: 'stop', because: 'waiting', why: 'USD 5 of 5, until 1970-01-01T00:00:09.000Z' },
    });
    expect(decideNext(start(board, 'a'), { ...FREE, shared: tomorrow })).toMatchObject({
      ...{ next: 'wait', suspended: false, withheld },
    });
  });

  it('all turns at once are those of other runs: it waits, however little patience it has', () => {
    expect(decideNext(make(two), { ...FREE, shared: full, patienceMs: 0 })).toMatchObject({
      ...{ next: 'wait', until: null, suspended: true, withheld: atOnce },
    });
  });

  it('an account at a limit that another run found out: it waits as for its own, and looks again when that has changed', () => {
    const account = make(one).facts.roster[0]?.account ?? '';
    const limited = new Map([[account, until]]);
    const shared = { free: Infinity, reached: undefined, limited };
    const next = decideNext(make(one), { ...FREE, shared });
    const why = expect.stringContaining('at its usage limit') as string;
    expect(next).toEqual({ next: 'wait', until, why, suspended: true, withheld: { why, until, limited } });
    expect(decideNext(make(one), { ...FREE, shared, patienceMs: 10 })).toMatchObject({
      ...{ next: 'stop', because: 'waiting' },
    });
    const other = new Map([['another', until]]);
    const free = decideNext(make(one), { ...FREE, shared: { ...shared, limited: other } });
    expect([free.next, 'withheld' in free]).toEqual(['start', false]);
  });

  it('hold back no question, no end and no limit of the run', () => {
    const { next } = decideNext(asked(make([newTask('a')])), { ...FREE, shared: tomorrow });
    expect(next).toBe('ask');
    const done = decideNext(make(two, undefined, [skip('a'), skip('b')]), { ...FREE, shared: tomorrow });
    expect(done).toMatchObject({ next: 'finish', outcome: 'done' });
    expect(decideNext(make(two), { ...LIMITED, shared: tomorrow })).toMatchObject({ next: 'stop', because: 'limit' });
  });
});
