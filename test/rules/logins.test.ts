import { describe, expect, it } from 'vitest';
import { applyChanges } from '../../src/rules/apply-changes.ts';
import { draftOf, finishDraft, type Draft } from '../../src/rules/board.ts';
import { isGivenUp, lockOutAskedAbout, lockOutOf, lockOutQuestions } from '../../src/rules/logins.ts';
import { answerLogin, reopen, reopenAgent, reopenLogins } from '../../src/rules/reopen-logins.ts';
import { lockKey } from '../../src/rules/stand-ins.ts';
import { newWork } from '../../src/rules/work.ts';
import type { Board, LockOut, Member, Question, RunFacts, TaskState } from '../../src/model/plan/board.ts';
import { isOfAgent } from '../../src/model/plan/lock-out.ts';
import type { AgentRequest } from '../../src/model/plan/work.ts';
import { member } from '../playbooks/simulator.ts';
import { boardWith, endedAs, liveRequest, stateOf } from './support.ts';

const BOB = member('bob', 'builder', { account: 'codex' });
const CYD = member('cyd', 'builder', { account: 'codex' });
const REX = member('rex', 'reviewer', { account: 'claude' });

function lock(more: Partial<LockOut> = {}): LockOut {
  return { account: 'codex', kind: 'auth', why: 'expired', agent: 'bob', givenUp: false, ...more };
}

interface About {
  readonly states?: readonly TaskState[];
  readonly locks?: readonly LockOut[];
  readonly roster?: Member[];
  readonly facts?: Partial<RunFacts>;
  readonly more?: Partial<Board>;
}

function boardOf({ states = [stateOf('a')], locks = [lock()], roster = [BOB], facts = {}, more = {} }: About): Board {
  const byKey = locks.map((one) => [lockKey(one.account, isOfAgent(one.kind) ? one.agent : null), one] as const);
  return { ...boardWith(states, facts, roster), lockedOut: new Map(byKey), ...more };
}

const requested = (state: AgentRequest['state'], thread: AgentRequest['thread'] = null): TaskState =>
  stateOf('a', {}, { author: { ...newWork().author, state, thread } });
const WAITING: AgentRequest['state'] = { at: 'waiting', until: 2_000, timer: 't', why: 'later' } as never;
const limited = (...accounts: string[]) => ({
  accounts: new Map(accounts.map((one) => [one, { until: 9e9, probe: null }])),
});
const switched = (scope: string, runtime: string) => ({
  switches: new Map([[scope, { runtime, model: null, seq: 1 }]]),
});
const texts = (about: About) => lockOutQuestions(boardOf(about)).map(({ text }) => text);
const asked = (about: About) => lockOutQuestions(boardOf(about)).map(({ id, blocks }) => [id, blocks]);

describe('the question about a lock-out', () => {
  it.each<[string, ReturnType<typeof lockOutAskedAbout>]>([
    ['engine/auth/codex', { kind: 'auth', account: 'codex' }],
    ['engine/setting-unsupported/a/b', { kind: 'setting-unsupported', account: 'a/b' }],
    ['engine/auth/', undefined],
    ['engine/setup', undefined],
    ['engine/run-branch/7', undefined],
    ['my/engine/auth/codex', undefined],
  ])('%s', (id, expected) => expect(lockOutAskedAbout(id)).toEqual(expected));

  it.each<[string, About, string]>([
    [
      'what is wrong, how it is repaired, and nothing more where nothing else helps',
      {},
      'bob cannot work (auth): expired. Log in, then answer "try again".',
    ],
    [
      'with the command that logs in, and a runtime that helps',
      { facts: { runtimes: { codex: { login: 'codex login' }, claude: {} } } },
      'bob cannot work (auth): expired. Log in with `codex login`, then answer "try again". ' +
        'Or let another runtime do its work: `squad switch claude --agent bob`.',
    ],
    [
      'as a sentence',
      { locks: [lock({ kind: 'billing', why: ' No credit. Really?!.. ' })] },
      'bob cannot work (billing): No credit. Really?. Pay what is due, then answer "try again".',
    ],
    [
      'whatever it is',
      { locks: [lock({ kind: 'cli-missing' })] },
      'bob cannot work (cli-missing): expired. Repair that, then answer "try again".',
    ],
    [
      'everyone whom it keeps from work, and who else could do all of it',
      { roster: [BOB, CYD, REX] },
      'bob, cyd cannot work (auth): expired. Log in, then answer "try again". ' +
        'Or let another runtime do their work: `squad switch claude --agent bob --agent cyd`.',
    ],
    [
      'a task that was switched to it',
      { roster: [REX, member('bob', 'builder', { account: 'claude' })], more: switched('task/a', 'codex') },
      'task a cannot work (auth): expired. Log in, then answer "try again". ' +
        'Or let another runtime do its work: `squad switch claude --task a`.',
    ],
    [
      'an agent that was switched to it',
      { roster: [REX, member('bob', 'builder', { account: 'claude' })], more: switched('agent/bob', 'codex') },
      'bob cannot work (auth): expired. Log in, then answer "try again". ' +
        'Or let another runtime do its work: `squad switch claude --agent bob`.',
    ],
  ])('says %s', (_, about, text) => expect(texts(about)).toEqual([text]));

  it('names who is stuck on it alone, and each runtime that helps somebody', () => {
    const mine = member('ann', 'builder', { account: 'mine' });
    const locks = [lock(), lock({ account: 'mine', agent: 'ann', kind: 'billing', why: 'no credit' })];
    const runtimes = { codex: {}, mine: {}, other: {} };
    const ways = 'Or let another runtime do its work: `squad switch other --agent bob --agent ann`.';
    expect(texts({ locks, roster: [BOB, mine], facts: { runtimes } })).toEqual([
      `bob cannot work (auth): expired. Log in, then answer "try again". ${ways}`,
      `ann cannot work (billing): no credit. Pay what is due, then answer "try again". ${ways}`,
    ]);
    const own = lock({ account: 'claude', kind: 'model-unavailable', agent: 'bob', why: 'no model' });
    const roster = [member('bob', 'builder', { account: 'claude' }), CYD];
    expect(texts({ locks: [own, lock()], roster })).toEqual([
      'bob cannot work (model-unavailable): no model. Repair that, then answer "try again".',
      'cyd cannot work (auth): expired. Log in, then answer "try again". ' +
        'Or let another runtime do its work: `squad switch claude --agent cyd`.',
    ]);
  });

  it('names a command for each runtime that helps somebody', () => {
    const ann = member('ann', 'tester', { account: 'claude' });
    const own = (agent: string, account: string) =>
      lock({ kind: 'model-unavailable', agent, account, why: 'no model' });
    const states = [stateOf('a'), stateOf('t', { role: 'tester' })];
    const [text] = texts({ states, roster: [BOB, ann], locks: [own('bob', 'codex'), own('ann', 'claude')] });
    expect(text).toBe(
      'bob cannot work (model-unavailable): no model. Repair that, then answer "try again". ' +
        'Or let another runtime do its work: `squad switch claude --agent bob` and `squad switch codex --agent ann`.',
    );
  });

  it('one for each kind and account, about the tasks that wait for it', () => {
    const states = [
      stateOf('a'),
      stateOf('b', { needs: ['a'] }),
      stateOf('c', { role: 'reviewer' }),
      stateOf('d', {}, endedAs('done')),
      stateOf('e'),
    ];
    expect(asked({ states, roster: [BOB, REX] })).toEqual([['engine/auth/codex', ['a', 'e']]]);
  });

  it.each<[string, About]>([
    ['somebody else can do the work', { roster: [BOB, member('ann', 'builder', { account: 'claude' })], states: [] }],
    ['another account stands in', { facts: { fallbacks: { codex: 'claude' } } }],
    ['a person gave up on it', { locks: [lock({ givenUp: true })] }],
    ['its turn is live', { states: [requested(liveRequest('a-1').state)] }],
    ['its work is being checked', { states: [stateOf('a', {}, { phase: { at: 'gathering' } as never })] }],
    ['nothing is locked out', { locks: [] }],
  ])('is none where %s', (_, about) => expect(asked(about)).toEqual([]));

  it('is asked about a turn that waits, and about whoever has its session', () => {
    const thread = { key: 'k', agent: 'bob' };
    const ann = member('ann', 'builder', { account: 'claude' });
    expect(asked({ states: [requested(WAITING)] })).toEqual([['engine/auth/codex', ['a']]]);
    const queued = requested({ at: 'queued' } as never, thread);
    expect(asked({ states: [queued], roster: [BOB, ann] })).toEqual([['engine/auth/codex', ['a']]]);
    const anns = requested({ at: 'queued' } as never, { key: 'k', agent: 'ann' });
    expect(asked({ states: [anns], roster: [BOB, ann] })).toEqual([]);
    const gone = requested({ at: 'queued' } as never, { key: 'k', agent: 'zed' });
    expect(asked({ states: [gone] })).toEqual([['engine/auth/codex', ['a']]]);
  });
});

describe('the runtime that a question names', () => {
  const worked = (...madeOn: string[]) => [stateOf('a'), stateOf('z', {}, { ...endedAs('done'), madeOn })];
  const ANN = member('ann', 'tester', { account: 'claude' });
  it.each<[string, About, string | undefined]>([
    ['one that has worked in the run', { states: worked('acp'), roster: [BOB, ANN] }, 'acp'],
    ['else one of the team', { roster: [BOB, ANN] }, 'claude'],
    ['else a fallback', { facts: { fallbacks: { x: 'agy' } } }, 'agy'],
    [
      'one that is not at its limit before',
      { states: worked('acp'), roster: [BOB, ANN], more: limited('acp') },
      'claude',
    ],
    ['one at its limit where there is no other', { states: worked('acp'), more: limited('acp') }, 'acp'],
    ['one that is registered', { facts: { runtimes: { codex: {}, mine: {} } } }, 'mine'],
    ['none that works only by name', { facts: { runtimes: { player: { onlyByName: true } } } }, undefined],
    ['none that is locked out', { roster: [BOB, ANN], locks: [lock(), lock({ account: 'claude' })] }, undefined],
  ])('is %s', (_, about, expected) => {
    const [text = ''] = texts(about);
    expect(/squad switch (\S+)/.exec(text)?.[1]).toBe(expected);
  });
});

describe('what a person has given up on', () => {
  const GIVEN = lock({ givenUp: true });
  const slot = (role: string, request: Partial<AgentRequest> = {}) => ({
    ...{ role, tried: [], answer: null, request: { ...newWork().author, ...request } },
  });
  const reviewing = (...roles: string[]) =>
    stateOf('a', {}, { phase: { at: 'reviewing', round: 1, slots: roles.map((role) => slot(role)) } as never });
  it.each<[string, About, boolean]>([
    ['a task that nobody else can do', { locks: [GIVEN] }, true],
    ['one that waits', { locks: [GIVEN], states: [requested(WAITING)] }, true],
    ['none of which a turn is live', { locks: [GIVEN], states: [requested(liveRequest('a-1').state)] }, false],
    ['none where the lock-out is open', {}, false],
    ['none where somebody can do it', { locks: [GIVEN], roster: [BOB, member('ann', 'builder')] }, false],
    ['none where nobody has the role', { locks: [GIVEN], roster: [REX] }, false],
    [
      'none where one place is open',
      { locks: [GIVEN, lock({ account: 'claude' })], facts: { fallbacks: { codex: 'claude' } } },
      false,
    ],
    [
      'one where one of two reviewers cannot judge',
      { locks: [GIVEN], states: [reviewing('reviewer', 'builder')], roster: [BOB, REX] },
      true,
    ],
  ])('%s', (_, about, expected) => {
    const board = boardOf(about);
    expect(isGivenUp(board.tasks.get('a')!, board)).toBe(expected);
  });

  it('keeps an agent from its own account, or everyone', () => {
    const found = { account: 'codex', agent: 'bob', why: 'no' };
    expect(lockOutOf({ ...found, kind: 'auth' })).toEqual({ of: null, lock: lock({ why: 'no' }) });
    expect(lockOutOf({ ...found, kind: 'model-unavailable' })).toEqual({
      of: 'bob',
      lock: lock({ why: 'no', kind: 'model-unavailable' }),
    });
  });
});

describe('a lock-out that a person answers', () => {
  const draft = (about: About): Draft => draftOf(boardOf(about), { seq: 5, at: 1_000 });
  const question = (id: string, more: Partial<Question> = {}): Question => ({
    ...{ id, text: 't', options: [], blocks: ['a', 'b', 'gone'], by: 'engine', answer: null },
    ...more,
  });
  const AUTH = { kind: 'auth', account: 'codex' } as const;

  it('is opened: one attempt goes first, not before a limit that is known', () => {
    const one = draft({ locks: [lock(), lock({ account: 'claude' })] });
    answerLogin(one, question('engine/auth/codex'), AUTH, true);
    expect([...one.lockedOut.keys()]).toEqual(['claude']);
    expect(one.accounts.get('codex')).toEqual({ until: 1_000, probe: null });
    const limit = draft({ more: limited('codex') });
    reopen(limit, 'codex');
    expect(limit.accounts.get('codex')).toEqual({ until: 9e9, probe: null });
  });

  it('of one agent leaves the account as it is', () => {
    const one = draft({ locks: [lock({ kind: 'model-unavailable' })] });
    reopen(one, 'codex');
    expect([one.lockedOut.size, one.accounts.size]).toEqual([0, 0]);
    const none = draft({ locks: [lock({ account: 'claude' })] });
    reopen(none, 'codex');
    expect([none.lockedOut.size, none.accounts.size]).toEqual([1, 0]);
    const both = draft({ locks: [lock({ kind: 'model-unavailable' }), lock()] });
    reopen(both, 'codex');
    expect([both.lockedOut.size, both.accounts.get('codex')?.until]).toEqual([0, 1_000]);
  });

  it('is given up: what nobody else can do fails, and says why', () => {
    const states = [stateOf('a'), stateOf('b', { role: 'reviewer' }), stateOf('c', {}, endedAs('done'))];
    const one = draft({ states, roster: [BOB, REX], locks: [lock(), lock({ kind: 'model-unavailable', agent: 'x' })] });
    answerLogin(one, question('engine/auth/codex', { blocks: ['a', 'b', 'c', 'gone'] }), AUTH, false);
    expect([...one.lockedOut.values()].map(({ kind, givenUp }) => [kind, givenUp])).toEqual([
      ['auth', true],
      ['model-unavailable', false],
    ]);
    expect(one.tasks.get('a')?.work.phase).toMatchObject({
      ...{ at: 'ended', as: 'failed', cause: 'attempts', why: 'engine/auth/codex: a person gave up on it' },
    });
    expect(['b', 'c'].map((id) => one.tasks.get(id)?.work.phase)).toMatchObject([
      { at: 'working' },
      { at: 'ended', as: 'done' },
    ]);
    const run = draft({});
    answerLogin(run, question('engine/auth/codex', { blocks: 'run' }), AUTH, false);
    expect(run.tasks.get('a')?.work.phase.at).toBe('working');
    const other = draft({ locks: [lock({ account: 'claude' }), lock({ kind: 'billing' })] });
    answerLogin(other, question('engine/auth/codex'), AUTH, false);
    expect([...other.lockedOut.values()].some(({ givenUp }) => givenUp)).toBe(false);
  });

  it('a retry opens them all, and withdraws what was asked about them', () => {
    const questions = new Map(
      [
        question('engine/auth/codex'),
        question('engine/billing/claude', { answer: 'give up' }),
        question('engine/setup'),
      ].map((one) => [one.id, one]),
    );
    const one = draft({ locks: [lock(), lock({ account: 'claude', kind: 'billing' })], more: { questions } });
    reopenLogins(one);
    expect(one.lockedOut.size).toBe(0);
    expect([...one.questions.values()].map(({ answer }) => answer)).toEqual(['withdrawn', 'give up', null]);
  });

  it('a switch of an agent tries its own settings there again', () => {
    const own = (more: Partial<LockOut>) => lock({ kind: 'model-unavailable', ...more });
    const locks = [lock(), own({}), own({ agent: 'cyd' }), own({ account: 'claude' })];
    const one = draft({ locks });
    reopenAgent(one, 'agent/bob', 'codex');
    expect([...one.lockedOut.keys()]).toEqual(['codex', 'codex cyd', 'claude bob']);
    reopenAgent(one, 'task/bob', 'claude');
    expect(one.lockedOut.size).toBe(3);
  });
});

describe('questions about lock-outs follow from them at the end of each step', () => {
  const step = (board: Board) => finishDraft(draftOf(board, { seq: 2, at: 2_000 })).board;
  const first = () => step(boardOf({}));

  it('they are asked, once', () => {
    const board = first();
    expect([...board.questions.values()]).toEqual([
      {
        id: 'engine/auth/codex',
        text: 'bob cannot work (auth): expired. Log in, then answer "try again".',
        options: ['try again', 'give up'],
        blocks: ['a'],
        by: 'engine',
        answer: null,
      },
    ]);
    expect(step(board).questions).toBe(board.questions);
  });

  it('worded again, for other tasks too', () => {
    const why = step({ ...first(), lockedOut: new Map([['codex', lock({ why: 'revoked' })]]) });
    expect(why.questions.get('engine/auth/codex')?.text).toContain('revoked');
    const more = applyChanges(first(), [{ do: 'add-task', task: stateOf('b').task }], { seq: 2, at: 2_000 }).board;
    expect(more.questions.get('engine/auth/codex')?.blocks).toEqual(['a', 'b']);
  });

  it('withdrawn where nothing is locked out any more, each by itself', () => {
    const both = step(
      boardOf({
        states: [stateOf('a'), stateOf('b', { role: 'reviewer' })],
        roster: [BOB, REX],
        locks: [lock(), lock({ account: 'claude', agent: 'rex' })],
      }),
    );
    expect(both.questions.size).toBe(2);
    const one = step({ ...both, lockedOut: new Map([['claude', lock({ account: 'claude', agent: 'rex' })]]) });
    expect([...one.questions.values()].map(({ id, answer }) => [id, answer])).toEqual([
      ['engine/auth/codex', 'withdrawn'],
      ['engine/auth/claude', null],
    ]);
    expect(step({ ...one, lockedOut: new Map() }).questions.get('engine/auth/claude')?.answer).toBe('withdrawn');
  });

  it('left alone once the run has ended, like every other question', () => {
    const ended = step({ ...first(), lockedOut: new Map(), finished: { outcome: 'failed', why: 'x' } });
    expect(ended.questions.get('engine/auth/codex')?.answer).toBeNull();
    const other: Question = { ...[...first().questions.values()][0]!, id: 'engine/setup' };
    const kept = step({ ...boardOf({ locks: [] }), questions: new Map([[other.id, other]]) });
    expect(kept.questions.get('engine/setup')?.answer).toBeNull();
  });
});
