import { describe, expect, it } from 'vitest';
import { draftOf, type Draft } from '../../src/rules/board.ts';
import { addEngineTask, proposeDone } from '../../src/rules/finish.ts';
import { intervene } from '../../src/rules/intervene.ts';
import { newWork } from '../../src/rules/work.ts';
import type { Board, LockOut, Question, TaskState } from '../../src/model/plan/board.ts';
import { CLOSED_GATE, type Gate } from '../../src/model/plan/gate.ts';
import type { Intervention } from '../../src/model/plan/intervention.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import type { AgentRequest, Phase, Work } from '../../src/model/plan/work.ts';
import { boardWith, endedAs, liveRequest, newTask, stateOf } from './support.ts';

const AT = { seq: 5, at: 9_000 };
const RETRY: Intervention = { verb: 'retry', task: 'a', fresh: false };
const SKIP: Intervention = { verb: 'skip', task: 'a', why: '' };

function after(states: readonly TaskState[], wish: Intervention, more: Partial<Board> = {}): Draft {
  const draft = draftOf({ ...boardWith(states), ...more }, AT);
  intervene(draft, wish, 'ada');
  return draft;
}

function asks(id: string, blocks: Question['blocks'], answer: string | null = null): Question {
  return { id, text: `${id}?`, options: [], blocks, by: 'engine', answer };
}

const questions = (...all: Question[]): Partial<Board> => ({ questions: new Map(all.map((one) => [one.id, one])) });
const gate = (more: Partial<Gate> = {}): Partial<Board> => ({
  gate: { ...CLOSED_GATE, at: 'checking', why: 'all done', refused: 2, ...more },
});
const open = ({ tasks }: Draft): string[] => tasks.open.map(({ task }) => task.id);

describe('a pause, a drain and a stop', () => {
  it.each<[Intervention, string, string]>([
    [{ verb: 'pause', on: 'agent/bob' }, 'agent/bob', 'pause'],
    [{ verb: 'drain' }, 'run', 'drain'],
    [{ verb: 'stop' }, 'run', 'stop'],
  ])('%j', (wish, scope, verb) => {
    expect([...after([stateOf('a')], wish).pauses]).toEqual([[scope, { verb, by: 'ada', at: 9_000 }]]);
  });
});

describe('a decision of the operator on a task', () => {
  const wishes: Intervention[] = [RETRY, SKIP, { verb: 'override', task: 'a', as: 'failed', why: '' }];

  it.each(wishes)('makes the check of the run branch void, and keeps what was found: %j', (wish) => {
    const problems = { at: 1, texts: ['no'] };
    const noted = { flaky: ['npm test'], changed: [] };
    const draft = after([stateOf('a')], wish, gate({ problems, noted }));
    expect(draft.gate).toEqual({ ...CLOSED_GATE, refused: wish.verb === 'skip' ? 0 : 2, problems, noted });
  });

  it('ends the judge, and says why', () => {
    const judge = stateOf('judge', { owner: 'engine' });
    const draft = after([stateOf('a'), judge], RETRY, gate({ at: 'judging', judge: 'judge' }));
    expect(draft.tasks.get('judge')?.work.phase).toMatchObject({ as: 'cancelled', why: 'there is more work to do' });
  });

  it.each([...wishes, { verb: 'cancel', on: 'task/a', why: '' }] as Intervention[])(
    'withdraws the questions about it: %j',
    (wish) => {
      const all = questions(
        asks('its', ['a']),
        asks('shared', ['a', 'b']),
        asks('other', ['b']),
        asks('run', 'run'),
        asks('old', ['a'], 'yes'),
      );
      const draft = after([stateOf('a'), stateOf('b')], wish, all);
      expect([...draft.questions.values()].map(({ id, blocks, answer }) => [id, blocks, answer])).toEqual([
        ['its', ['a'], 'withdrawn'],
        ['shared', ['b'], null],
        ['other', ['b'], null],
        ['run', 'run', null],
        ['old', ['a'], 'yes'],
      ]);
    },
  );

  it('opens the account that only it was asked about', () => {
    const lock: LockOut = { account: 'account-bob', kind: 'auth', why: 'expired', agent: 'bob', givenUp: false };
    const about = (...blocks: string[]) => ({
      ...questions(asks('engine/auth/account-bob', blocks)),
      lockedOut: new Map([[lock.account, lock]]),
    });
    expect(after([stateOf('a')], SKIP, about('a')).lockedOut.size).toBe(0);
    expect(after([stateOf('a'), stateOf('b')], SKIP, about('a', 'b')).lockedOut.size).toBe(1);
    expect(after([stateOf('a')], SKIP, { ...about('a'), ...questions(asks('other', ['a'])) }).lockedOut.size).toBe(1);
  });

  it.each<[string, string]>([
    ['', 'ada says so: '],
    ['no', 'ada says so: no'],
  ])('a cancelled task says why: %j', (why, text) => {
    const { phase } = after([stateOf('a')], { verb: 'cancel', on: 'task/a', why }).tasks.get('a')!.work;
    expect(phase).toMatchObject({ as: 'cancelled', why: text });
  });

  it.each<[string, string]>([
    ['', 'cancelled by ada'],
    ['no', 'cancelled by ada: no'],
  ])('a cancelled run says why, and so do its tasks: %j', (why, text) => {
    const pauses = new Map([['run', { verb: 'pause', by: 'bea', at: 1 } as const]]);
    const done = stateOf('b', {}, endedAs('done'));
    const draft = after([stateOf('a'), done], { verb: 'cancel', on: 'run', why }, { pauses });
    expect([draft.finished, draft.pauses.size]).toEqual([{ outcome: 'cancelled', why: text }, 0]);
    expect(draft.tasks.get('a')?.work.phase).toMatchObject({ as: 'cancelled', why: `the run has ended: ${text}` });
    expect(draft.tasks.get('b')?.work).toEqual(done.work);
  });
});

describe('a retry', () => {
  it('keeps whoever the plan names, and takes whom the operator names', () => {
    const planned = stateOf('a', { agent: 'bob' });
    const agent = (wish: Intervention) => after([planned], wish).tasks.get('a')?.task;
    expect(agent(RETRY)).toEqual(planned.task);
    expect(agent({ verb: 'retry', task: 'a', fresh: false, agent: 'bob' })).toEqual(planned.task);
    const free = after([stateOf('a')], { verb: 'retry', task: 'a', fresh: false, agent: 'bob' });
    expect(free.tasks.get('a')?.task.agent).toBe('bob');
    expect(after([stateOf('a')], RETRY).tasks.get('a')?.task).not.toHaveProperty('agent');
  });

  it('opens every account that was locked out', () => {
    const lock: LockOut = { account: 'codex', kind: 'auth', why: 'expired', agent: 'bob', givenUp: false };
    expect(after([stateOf('a')], RETRY, { lockedOut: new Map([['codex', lock]]) }).lockedOut.size).toBe(0);
  });

  it('leaves a question of the run alone, whatever the task is called', () => {
    const draft = after([stateOf('r')], { ...RETRY, task: 'r' }, questions(asks('q', 'run')));
    expect(draft.questions.get('q')).toEqual(asks('q', 'run'));
  });

  it('of a task that is overridden at once is none', () => {
    const cancelled = stateOf('a', {}, { ...endedAs('cancelled'), attempts: 1 });
    expect(after([cancelled], SKIP).tasks.get('a')?.work).toMatchObject({ round: 1, phase: { as: 'skipped' } });
  });
});

describe('what opens again with a task', () => {
  const end = (
    id: string,
    as: 'cancelled' | 'skipped',
    needs: string[] = [],
    more: Partial<NewTask> = {},
    work: Partial<Work> = {},
  ) => stateOf(id, { needs, ...more }, { ...endedAs(as), attempts: 0, ...work });
  const failed = stateOf('a', {}, endedAs('failed'));
  const FINISHED: Partial<Board> = { finished: { outcome: 'failed', why: 'a failed' } };

  it.each<[string, TaskState[], Partial<Board>, string[]]>([
    ['what was cancelled with it', [failed, end('b', 'cancelled', ['a']), end('c', 'cancelled')], {}, ['a', 'b']],
    ['all that the end of the run cancelled', [failed, end('b', 'cancelled')], FINISHED, ['a', 'b']],
    ['nothing while it is at work itself', [stateOf('a'), end('b', 'cancelled', ['a'])], {}, ['a']],
    [
      'no judge',
      [failed, end('j', 'cancelled', ['a'], { owner: 'engine', output: { schema: 'judgement', repairs: 1 } })],
      FINISHED,
      ['a'],
    ],
    ['nothing that is done', [failed, stateOf('b', { needs: ['a'] }, endedAs('done'))], FINISHED, ['a']],
    [
      'nothing that a person ended',
      [failed, end('b', 'cancelled', ['a'], {}, { override: { as: 'cancelled', by: 'ada', why: '' } })],
      FINISHED,
      ['a'],
    ],
    ['what hands it on and was skipped with it', [failed, end('b', 'skipped', ['a'], { base: 'a' })], {}, ['a', 'b']],
    ['what tests it', [failed, end('b', 'skipped', ['a'], { parent: 'a' })], {}, ['a', 'b']],
    [
      'what has the same parent',
      [stateOf('a', { parent: 'm' }, endedAs('failed')), end('b', 'skipped', ['a'], { parent: 'm' })],
      {},
      ['a', 'b'],
    ],
    ['not what only needs it', [failed, end('b', 'skipped', ['a'])], {}, ['a']],
    ['not what has another parent', [failed, end('b', 'skipped', ['a'], { parent: 'x' })], {}, ['a']],
    ['not what hands on another', [failed, end('b', 'skipped', ['a'], { base: 'z' })], {}, ['a']],
    [
      'not what a stall skipped',
      [failed, end('b', 'skipped', ['a'], { base: 'a' }, endedAs('skipped', { cause: 'attempts' }))],
      {},
      ['a'],
    ],
    [
      'nothing that hands it on and is done',
      [failed, stateOf('b', { needs: ['a'], base: 'a' }, endedAs('done'))],
      {},
      ['a'],
    ],
    ['not what failed by itself', [failed, stateOf('b', { needs: ['a'], base: 'a' }, endedAs('failed'))], {}, ['a']],
  ])('%s', (_, states, more, expected) => {
    const draft = after(states, RETRY, more);
    expect(open(draft)).toEqual(expected);
    expect(draft.finished).toBeNull();
  });

  it('the run, whose refusals do not count any more', () => {
    expect(after([failed], RETRY, { ...FINISHED, ...gate({ at: 'idle' }) }).gate.refused).toBe(0);
    expect(after([stateOf('a')], RETRY, gate({ at: 'idle' })).gate.refused).toBe(2);
  });

  it('with limits, where nobody asked for it by name, and in its session', () => {
    const b = end('b', 'cancelled', ['a'], {}, { author: { ...newWork().author, thread: { key: 'k', agent: 'bob' } } });
    const draft = after([failed, b], RETRY);
    expect(['a', 'b'].map((id) => draft.tasks.get(id)?.work.uncapped)).toEqual([true, false]);
    expect(draft.tasks.get('b')?.work.author).toMatchObject({ session: 'same', reset: false, thread: { key: 'k' } });
  });

  it('not with a task that is said to have failed', () => {
    const states = [stateOf('a', {}, endedAs('done')), end('b', 'cancelled', ['a'])];
    const as = (to: 'done' | 'failed'): Intervention => ({ verb: 'override', task: 'a', as: to, why: '' });
    expect(open(after([stateOf('a'), states[1]!], as('failed')))).toEqual([]);
    expect(open(after([failed, states[1]!], as('done')))).toEqual(['b']);
  });
});

describe('a reload', () => {
  const RELOAD: Extract<Intervention, { verb: 'reload' }> = {
    verb: 'reload',
    setup: [],
    verify: [],
    limits: {},
    trusted: null,
  };
  const own = newTask('a', { requires: [{ kind: 'command', run: 'old', ofCriterion: true }] });
  const states = [
    { ...stateOf('a'), task: own },
    stateOf('b'),
    stateOf('c', { requires: [{ kind: 'command', run: 'make' }] }),
    stateOf('d', { requires: [{ kind: 'diff' }, { kind: 'command', run: 'old', ofCriterion: true }] }),
  ];
  const criteria = [{ text: 'it passes', command: 'npm test' }, { text: 'it is nice' }];
  /** As its file has them. */
  const written = criteria.map((one, line) => ({ ...one, done: false, line }));
  const with_ = (more: Partial<typeof RELOAD>, board: Partial<Board> = {}) =>
    after(states, { ...RELOAD, ...more }, board);

  it('knows the commands that there are now', () => {
    expect(with_({ setup: [{ run: 'npm ci', minutes: 5 }] }).facts).toMatchObject({ prepares: true, verifies: false });
    expect(with_({ verify: [{ run: 'npm test', minutes: 5 }] }).facts).toMatchObject({
      prepares: false,
      verifies: true,
    });
  });

  it('replaces criteria, and the commands of tasks that had them', () => {
    const doubtful = { commands: ['npm test'] };
    const draft = with_({ criteria: written, doubtful });
    expect(draft.facts).toMatchObject({ objective: { criteria }, doubtful });
    expect(draft.facts.objective.criteria[1]).not.toHaveProperty('command');
    const check = { kind: 'command', run: 'npm test', ofCriterion: true };
    expect(['a', 'b', 'c', 'd'].map((id) => draft.tasks.get(id)?.task.requires)).toEqual([
      [check],
      [{ kind: 'diff' }],
      [{ kind: 'command', run: 'make' }],
      [check],
    ]);
    expect(with_({ criteria: written }, { facts: { ...boardWith([]).facts, doubtful } }).facts).not.toHaveProperty(
      'doubtful',
    );
  });

  it.each<[string, object[], boolean]>([
    ['of the file', [{ text: 'x', command: 'old' }], true],
    [
      'of an agent',
      [
        { text: 'x', command: 'old' },
        { text: 'y', proposed: 'z' },
      ],
      false,
    ],
  ])('leaves alone what an agent proposed: %s', (_, before, replaced) => {
    const { facts } = boardWith([]);
    const objective = { ...facts.objective, criteria: before as { text: string }[] };
    const draft = with_({ criteria: written }, { facts: { ...facts, objective } });
    expect(draft.facts.objective.criteria).toEqual(replaced ? criteria : before);
  });

  it('tries a failed setup again, and the base commit', () => {
    const blocked: AgentRequest['state'] = { at: 'blocked', question: 'engine/setup-failed' };
    const task = stateOf('a', {}, { author: { ...newWork().author, state: blocked } });
    const setup = asks('engine/setup-failed', ['a']);
    const draft = after([task], RELOAD, questions(setup));
    expect([draft.questions.get(setup.id)?.answer, draft.tasks.get('a')?.work.author.state.at]).toEqual([
      'withdrawn',
      'queued',
    ]);
    const old = after([task], RELOAD, questions({ ...setup, answer: 'give up' }));
    expect([old.questions.get(setup.id)?.answer, old.tasks.get('a')?.work.author.state.at]).toEqual([
      'give up',
      'blocked',
    ]);
    const run = after([task], RELOAD, questions({ ...setup, blocks: 'run' }));
    expect(run.questions.get(setup.id)?.answer).toBeNull();
    expect(draft.baseline.tries).toBe(2);
  });
});

describe('a switch', () => {
  const by = (agent: string, more: Partial<AgentRequest> = {}): AgentRequest => ({
    ...newWork().author,
    thread: { key: `k-${agent}`, agent },
    session: 'same',
    ...more,
  });
  const slot = (role: string, request: AgentRequest) => ({ role, answer: null, tried: [], request });
  const reviewing = (...requests: AgentRequest[]): Phase => ({
    ...{ at: 'reviewing', commit: 'c' },
    slots: requests.map((request, index) => slot(`role${index}`, request)),
  });
  const to = (on: string, also?: string[]): Intervention => ({
    verb: 'switch',
    on,
    runtime: 'codex',
    ...(also && { also }),
  });
  const sessions = (draft: Draft, id = 'a') => draft.tasks.get(id)?.work.author.session;

  it('is kept for each that it is about, with its model', () => {
    const draft = after([stateOf('a')], { ...to('agent/bob', ['task/a']), model: 'big' } as Intervention);
    expect([...draft.switches]).toEqual([
      ['agent/bob', { runtime: 'codex', model: 'big', seq: 5 }],
      ['task/a', { runtime: 'codex', model: 'big', seq: 5 }],
    ]);
    const one = after([stateOf('a')], to('task/a')).switches;
    expect([...one]).toEqual([['task/a', { runtime: 'codex', model: null, seq: 5 }]]);
  });

  it('opens what kept that agent from the runtime', () => {
    const lock: LockOut = { account: 'codex', kind: 'model-unavailable', why: 'no', agent: 'bob', givenUp: false };
    expect(after([stateOf('a')], to('agent/bob'), { lockedOut: new Map([['codex bob', lock]]) }).lockedOut.size).toBe(
      0,
    );
  });

  it.each<[string, string, string]>([
    ['of its agent', 'agent/bob', 'new'],
    ['of another agent', 'agent/rex', 'same'],
    ['of the task', 'task/a', 'new'],
    ['of another task', 'task/b', 'same'],
  ])('leaves the session of an author: %s', (_, on, session) => {
    const states = [stateOf('a', {}, { author: by('bob') }), stateOf('b')];
    const before = boardWith(states);
    expect(sessions(after(states, to(on)))).toBe(session);
    const draft = draftOf(before, AT);
    intervene(draft, to(on), 'ada');
    // A board shares what has not changed.
    if (session === 'same') expect(draft.tasks.get('a')).toBe(before.tasks.get('a'));
  });

  it('of an agent leaves an author without a session alone', () => {
    const draft = after([stateOf('a', {}, { author: { ...newWork().author, session: 'same' } })], to('task/a'));
    expect(sessions(draft)).toBe('same');
  });

  it('of a reviewer leaves its session, now and in later rounds, and nobody else’s', () => {
    const ann = by('ann');
    const work: Partial<Work> = {
      author: by('bob'),
      phase: reviewing(by('rex'), ann, { ...newWork().author, session: 'same' }),
      reviewers: { one: { key: 'x', agent: 'rex' }, two: { key: 'y', agent: 'ann' } },
    };
    const after_ = after([stateOf('a', {}, work)], to('agent/rex')).tasks.get('a')!.work;
    expect(after_.reviewers).toEqual({ two: { key: 'y', agent: 'ann' } });
    expect(after_.phase.at === 'reviewing' && after_.phase.slots.map(({ request }) => request.session)).toEqual([
      'new',
      'same',
      'same',
    ]);
    expect(after_.author.session).toBe('same');
    const kept = after([stateOf('a', {}, { reviewers: { one: { key: 'x', agent: 'rex' } } })], to('agent/rex'));
    expect(kept.tasks.get('a')?.work.reviewers).toEqual({});
    const task = after([stateOf('a', {}, work)], to('task/a')).tasks.get('a')!.work;
    expect([task.author.session, Object.keys(task.reviewers)]).toEqual(['new', ['one', 'two']]);
  });

  it('of one of several judges that are at work', () => {
    const live = { ...liveRequest('a-2', 'rex'), session: 'same' as const };
    const { phase } = after([stateOf('a', {}, { phase: reviewing(live) })], to('agent/rex')).tasks.get('a')!.work;
    expect(phase.at === 'reviewing' && phase.slots[0]?.request.session).toBe('new');
  });
});

describe('a proposal to end the run', () => {
  const draftWith = (more: Partial<Board> = {}) =>
    draftOf({ ...boardWith([stateOf('a'), stateOf('e', { owner: 'engine' })]), ...more }, AT);

  it('ends what a playbook planned, and not the engine’s own', () => {
    const draft = draftWith();
    proposeDone(draft, 'all is there', ['one is open']);
    expect(draft.gate).toEqual({ ...CLOSED_GATE, at: 'checking', why: 'all is there', remarks: ['one is open'] });
    expect(draft.tasks.get('a')?.work.phase).toMatchObject({ as: 'cancelled', why: 'the run has ended: all is there' });
    expect(draft.tasks.get('e')?.work.phase.at).toBe('working');
    const again = draftWith(gate({ at: 'idle', remarks: ['old'] }));
    proposeDone(again, 'now');
    expect(again.gate).toStrictEqual({ ...CLOSED_GATE, refused: 2, at: 'checking', why: 'now' });
  });

  it('changes nothing while one is looked at', () => {
    const draft = draftWith(gate());
    proposeDone(draft, 'again');
    expect([draft.gate.why, draft.tasks.get('a')?.work.phase.at]).toEqual(['all done', 'working']);
  });

  it('tasks of the engine have names of their own', () => {
    const draft = draftWith();
    const make = (id: string) => newTask(id);
    expect([
      addEngineTask(draft, 'judge', make),
      addEngineTask(draft, 'judge', make),
      addEngineTask(draft, 'judge', make),
    ]).toEqual([...['judge', 'judge-2', 'judge-3']]);
  });
});
