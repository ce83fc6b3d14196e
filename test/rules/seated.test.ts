import { describe, expect, it } from 'vitest';
import { judgeInstead } from '../../src/rules/gate.ts';
import { barredFrom, eligible, membersFor, otherRuntime } from '../../src/rules/members.ts';
import { pickAgent, type Staff } from '../../src/rules/staff.ts';
import { newWork } from '../../src/rules/work.ts';
import type { Board, LockOut, Member, TaskState } from '../../src/model/plan/board.ts';
import type { TaskEnded } from '../../src/model/plan/event.ts';
import { CLOSED_GATE } from '../../src/model/plan/gate.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import type { AgentRequest, ReviewSlot, Work } from '../../src/model/plan/work.ts';
import { ROOM_FOR_ALL } from '../../src/model/spending.ts';
import { member } from '../playbooks/simulator.ts';
import { boardWith, stateOf } from './support.ts';

const slot = (role: string, more: Partial<ReviewSlot> = {}): ReviewSlot => ({
  ...{ role, request: newWork().author, answer: null, tried: [] },
  ...more,
});
const reviewing = (...slots: ReviewSlot[]): Partial<Work> => ({
  phase: { at: 'reviewing', commit: 'c', slots },
});
const TEAM = [member('bob', 'builder'), member('rex', 'reviewer'), member('rea', 'reviewer'), member('pam', 'pm')];
const switched = (scope: string): Partial<Board> => ({
  switches: new Map([[scope, { runtime: 'codex', model: 'big', seq: 1 }]]),
});

describe('who may do it', () => {
  const names = (review: string | null, task: Partial<NewTask> = {}, work: Partial<Work> = {}) =>
    eligible(stateOf('a', task, work), review, boardWith([], {}, TEAM)).map(({ name }) => name);

  it.each<[string, string | null, Partial<NewTask>, Partial<Work>, string[]]>([
    ['its role', null, {}, {}, ['bob']],
    ['whom it names', null, { agent: 'pam' }, {}, ['pam']],
    ['its reviewers', 'reviewer', {}, reviewing(slot('reviewer')), ['rex', 'rea']],
    ['no author', 'reviewer', {}, { ...reviewing(slot('reviewer')), authors: ['rex'] }, ['rea']],
    ['nobody who has tried', 'reviewer', {}, reviewing(slot('reviewer', { tried: ['rea'] })), ['rex']],
    [
      'who has tried for another role',
      'reviewer',
      {},
      reviewing(slot('reviewer'), slot('pm', { tried: ['rea'] })),
      ['rex', 'rea'],
    ],
    ['who is asked in its place alone', 'reviewer', {}, reviewing(slot('reviewer', { instead: 'pam' })), ['pam']],
    [
      'not where that one has worked on it',
      'reviewer',
      {},
      { ...reviewing(slot('reviewer', { instead: 'pam' })), authors: ['pam'] },
      [],
    ],
    [
      'not who is asked in place of another',
      'reviewer',
      {},
      reviewing(slot('pm', { instead: 'rea' }), slot('reviewer')),
      ['rex'],
    ],
    ['not yet a review', 'reviewer', {}, {}, ['rex', 'rea']],
  ])('%s', (_, review, task, work, expected) => expect(names(review, task, work)).toEqual(expected));

  it('who has tried is barred only while it is reviewed', () => {
    const { work } = stateOf('a', {}, { ...reviewing(slot('reviewer', { tried: ['rex'] })), authors: ['bob'] });
    expect([
      barredFrom(work, 'reviewer'),
      barredFrom(work, 'pm'),
      barredFrom({ ...work, phase: { at: 'working' } }, 'reviewer'),
    ]).toEqual([...[['bob', 'rex'], ['bob'], ['bob']]]);
  });
});

describe('a runtime that is not the agent’s own', () => {
  const turn = { agent: 'bob', task: 'a', review: null, account: 'x' };
  it.each<
    [string, Partial<Board>, Partial<typeof turn> & { review?: string | null; insteadOf?: string }, object | undefined]
  >([
    ['none', {}, {}, undefined],
    ['by a switch of the agent', switched('agent/bob'), {}, { runtime: 'codex', model: 'big' }],
    ['by a switch of the task', switched('task/a'), {}, { runtime: 'codex', model: 'big' }],
    ['not of a review of it', switched('task/a'), { review: 'reviewer' } as never, undefined],
    ['not of another', switched('task/b'), {}, undefined],
    ['because another account stands in', switched('agent/bob'), { insteadOf: 'y' }, { runtime: 'x', model: null }],
  ])('%s', (_, more, about, expected) => {
    const found = otherRuntime({ ...boardWith([]), ...more }, { ...turn, ...about });
    expect(found === undefined ? undefined : { runtime: found.runtime, model: found.model }).toEqual(expected);
  });

  it('is the account of whoever is switched', () => {
    const accounts = (more: Partial<Board>, review: string | null = null) =>
      membersFor({ ...boardWith([], {}, TEAM), ...more }, 'a', review).map(({ account }) => account);
    expect(accounts(switched('agent/rex'))).toEqual(['account-bob', 'codex', 'account-rea', 'account-pam']);
    expect(accounts(switched('task/a'))).toEqual(['codex', 'codex', 'codex', 'codex']);
    expect(accounts(switched('task/a'), 'reviewer')).toEqual(accounts({}));
  });
});

describe('the session of a turn', () => {
  const staff: Staff = {
    ...{ sessions: new Set(), load: new Map(), probing: new Set(), starting: new Map(), room: ROOM_FOR_ALL },
  };
  const kept = (more: object = {}): AgentRequest => ({
    ...newWork().author,
    session: 'same',
    thread: { key: 'k', agent: 'bob', ...more },
  });
  const fresh: AgentRequest = { ...newWork().author, session: 'same' };
  const of = { key: 'z', agent: 'bob' };
  const other = stateOf('z', {}, { author: { ...newWork().author, thread: of } });
  const session = (
    request: AgentRequest,
    task: Partial<NewTask> = {},
    more: Partial<Board> = {},
    review: string | null = null,
    states: TaskState[] = [other],
  ) => {
    const state = stateOf('a', task, { attempts: 2 });
    const board = { ...boardWith([state, ...states], {}, TEAM), ...more };
    const pick = pickAgent(state, review, request, board, staff);
    return pick.pick === 'agent' ? [pick.session.key, pick.session.resume] : pick;
  };
  const limited: Partial<Board> = {
    now: 100,
    accounts: new Map([['account-bob', { until: 200, probe: null }]]),
    facts: { ...boardWith([], {}, TEAM).facts, fallbacks: { 'account-bob': 'codex' } },
  };
  const NEW = ['a/author/bob/3', false];

  it.each<[string, () => unknown, unknown]>([
    ['is its own again', () => session(kept()), ['k', true]],
    ['is new where it was asked for', () => session({ ...kept(), session: 'new' }), NEW],
    ['is new where it is another’s', () => session(kept({ agent: 'zed' })), NEW],
    ['is new on an account that stands in', () => session(kept(), {}, limited), NEW],
    ['is its own again on that account', () => session(kept({ on: 'codex' }), {}, limited), ['k', true]],
    ['is new once it is back on its own', () => session(kept({ on: 'codex' })), NEW],
    ['is new for work that begins', () => session(fresh), NEW],
    ['is the agent’s', () => session(fresh, { session: 'agent' }), ['agent/bob', true]],
    [
      'is the agent’s on its runtime',
      () => session(fresh, { session: 'agent' }, switched('agent/bob')),
      ['agent/bob/1', true],
    ],
    [
      'is the agent’s on the account that stands in',
      () => session(fresh, { session: 'agent' }, limited),
      ['agent/bob/codex', true],
    ],
    [
      'is new for the agent where it was asked for',
      () => session({ ...fresh, session: 'new' }, { session: 'agent' }),
      NEW,
    ],
    ['is that of another task', () => session(fresh, { session: { of: 'z' } }), ['z', true]],
    [
      'is new where the other task had none',
      () => session(fresh, { session: { of: 'z' } }, {}, null, [stateOf('z')]),
      NEW,
    ],
    ['is new where the other task is gone', () => session(fresh, { session: { of: 'z' } }, {}, null, []), NEW],
    [
      'is new where another agent did the other task',
      () =>
        session(fresh, { session: { of: 'z' } }, {}, null, [
          stateOf('z', {}, { author: { ...fresh, thread: { ...of, agent: 'rex' } } }),
        ]),
      NEW,
    ],
  ])('%s', (_, found, expected) => expect(found()).toEqual(expected));

  it('in use is waited for', () => {
    const busy = { ...staff, sessions: new Set(['k']) };
    const state = stateOf('a');
    expect(pickAgent(state, null, kept(), boardWith([state], {}, TEAM), busy)).toEqual({
      ...{ pick: 'wait', why: 'its session is in use', until: null },
    });
  });

  const lock = (kind: LockOut['kind'], agent = 'bob'): LockOut => ({
    account: `account-${agent}`,
    kind,
    why: 'no',
    agent,
    givenUp: false,
  });
  it.each<[LockOut['kind'][], string]>([
    [['auth'], 'no working login or payment for account-bob'],
    [['billing'], 'no working login or payment for account-bob'],
    [['cli-missing'], 'no use of account-bob'],
    [['auth', 'cli-missing'], 'no use of account-bob and account-ann'],
    [['auth', 'billing'], 'no working login or payment for account-bob and account-ann'],
  ])('nobody can begin one where all are locked out: %j', (kinds, why) => {
    const roster: Member[] = [member('bob', 'builder'), member('ann', 'builder')].slice(0, kinds.length);
    const locks = kinds.map((kind, index) => lock(kind, roster[index]?.name));
    const state = stateOf('a');
    const board = { ...boardWith([state], {}, roster), lockedOut: new Map(locks.map((one) => [one.account, one])) };
    expect(pickAgent(state, null, fresh, board, staff)).toEqual({ pick: 'wait', why, until: null });
  });
});

describe('who judges in place of a judge of the run', () => {
  const author = { ...newWork().author, thread: { key: 'k', agent: 'rex' } };
  const END = { type: 'task-failed', task: 'judge', cause: 'attempts', why: 'lost' } as unknown as TaskEnded;
  const instead = (work: Partial<Work> = {}, end: TaskEnded | undefined = END, judge = 'judge') => {
    const state = stateOf('judge', { owner: 'engine', workspace: { read: 'run' } }, { author, ...work });
    const board = { ...boardWith([state], {}, TEAM), gate: { ...CLOSED_GATE, judge } };
    return judgeInstead(board, state, end === undefined ? [] : [end]);
  };

  it('is another one who may judge, and why', () => expect(instead()).toEqual({ agent: 'rea', why: 'lost' }));

  it.each<[string, () => ReturnType<typeof instead>]>([
    ['after its verdict', () => instead({}, { ...END, type: 'task-done' } as TaskEnded)],
    [
      'where it goes on',
      () =>
        judgeInstead(
          { ...boardWith([], {}, TEAM), gate: { ...CLOSED_GATE, judge: 'judge' } },
          stateOf('judge', {}, { author }),
          [],
        ),
    ],
    ['of another task', () => instead({}, END, 'judge-2')],
    ['where it was cancelled', () => instead({}, { ...END, cause: 'cancelled' } as TaskEnded)],
    ['where nobody began', () => instead({ author: newWork().author })],
    [
      'once all have tried',
      () => instead({ replaced: [{ round: 1, role: 'reviewer', agent: 'rea', by: 'rex', why: '' }] }),
    ],
  ])('nobody is: %s', (_, found) => expect(found()).toBeUndefined());
});
