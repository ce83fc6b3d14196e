import { describe, expect, it } from 'vitest';
import { applyChanges } from '../../src/rules/apply-changes.ts';
import { newWork } from '../../src/rules/work.ts';
import type { Board, MailView, Question } from '../../src/model/plan/board.ts';
import type { PlanChange } from '../../src/model/plan/change.ts';
import { CLOSED_GATE, type RecordedVerdict } from '../../src/model/plan/gate.ts';
import type { Work } from '../../src/model/plan/work.ts';
import { boardWith, endedAs, newTask, stateOf } from './support.ts';

const AT = { seq: 5, at: 9_000 };
const change = (board: Board, ...changes: PlanChange[]) => applyChanges(board, changes, AT);
const refused = (board: Board, one: PlanChange) => change(board, one).refused.map(({ why }) => why);
const CHECKING = { gate: { ...CLOSED_GATE, at: 'checking', why: 'all is there', refused: 1, facts: null } } as const;
const ask = (id: string, more: Partial<MailView> = {}): MailView => ({
  ...{ id, from: 'bob', to: ['rex', 'ann'], type: 'ask', action: 'clarify', body: {}, at: 1, owes: ['rex', 'ann'] },
  ...more,
});
const withMail = (...all: MailView[]): Board => ({ ...boardWith([]), mail: new Map(all.map((one) => [one.id, one])) });

describe('more work', () => {
  const done = stateOf('a', {}, endedAs('done'));
  const reopen: PlanChange = { do: 'reopen-task', id: 'a', feedback: 'again', session: 'same' };
  it.each<[string, PlanChange]>([
    ['a new task', { do: 'add-task', task: newTask('b') }],
    ['a task that is opened again', reopen],
  ])('makes the check of the run branch void: %s', (_, one) => {
    expect(change({ ...boardWith([done]), ...CHECKING }, one).board.gate).toEqual({ ...CLOSED_GATE, refused: 1 });
    const idle = { ...CLOSED_GATE, judgement: { task: 'judge', commit: 'c', by: 'rex', verdicts: [] } };
    expect(change({ ...boardWith([done]), gate: idle }, one).board.gate).toBe(idle);
  });

  it.each<[string, PlanChange, Board, string]>([
    ['opened again while it is at work', reopen, boardWith([stateOf('a')]), 'a is still at work'],
    [
      'ended though it is not there',
      { do: 'settle-task', id: 'z', as: 'failed', why: '' },
      boardWith([]),
      'there is no task z',
    ],
    ['changed though it is not there', { do: 'edit-task', id: 'z' }, boardWith([]), 'there is no task z'],
  ])('is not %s', (_, one, board, why) => {
    const step = change({ ...board, ...CHECKING }, one);
    expect(step.refused.map((refusal) => refusal.why)).toEqual([why]);
    expect(step.events).toEqual([{ ...AT, type: 'refused', change: one, why }]);
    expect([step.board.gate, step.board.tasks.get('a')?.work]).toEqual([CHECKING.gate, board.tasks.get('a')?.work]);
  });

  it('changes what it names', () => {
    const { board, refused: none } = change(boardWith([stateOf('a')]), {
      do: 'edit-task',
      id: 'a',
      priority: 3,
      agent: 'bob',
    });
    expect([none, board.tasks.get('a')?.task]).toEqual([[], { ...newTask('a'), priority: 3, agent: 'bob' }]);
  });
});

describe('what a playbook sends', () => {
  const send = (more: object = {}): PlanChange => ({
    do: 'send',
    to: ['bob'],
    type: 'send',
    key: 'k',
    body: {},
    ...more,
  });

  it('goes out', () => {
    expect(change(boardWith([]), send()).effects).toEqual([{ effect: 'send', message: send() }]);
    const { key: _, ...without } = send() as Extract<PlanChange, { do: 'send' }>;
    expect(refused(withMail(ask('key:undefined')), without)).toEqual([]);
  });

  it.each<[string, PlanChange, string]>([
    ['twice', send({ key: 'old' }), 'old was sent before'],
    ['in answer to nothing', send({ corrKey: 'none' }), 'nothing was sent as none'],
  ])('is not sent %s', (_, one, why) => {
    const step = change(withMail(ask('key:old')), one);
    expect([step.refused[0]?.why, step.effects]).toEqual([why, []]);
  });

  it('refuses a message: its sender hears why, and nobody owes an answer', () => {
    const step = change(withMail(ask('s-7', { task: 't' })), { do: 'refuse-mail', message: 's-7', reason: 'not now' });
    const message = { do: 'send', from: 'ROUTER', to: ['bob'], type: 'fail', corr: 's-7' };
    const body = { reason: 'not now', blocked_by: [] };
    expect(step.effects).toStrictEqual([{ effect: 'send', message: { ...message, task: 't', body } }]);
    expect(step.board.mail.get('s-7')?.owes).toEqual([]);
    const free = change(withMail(ask('s-7')), { do: 'refuse-mail', message: 's-7', reason: 'not now' });
    expect(free.effects).toStrictEqual([{ effect: 'send', message: { ...message, body } }]);
  });

  it.each<PlanChange>([
    { do: 'refuse-mail', message: 's-9', reason: '' },
    { do: 'close-ask', message: 's-9', by: 'rex' },
  ])('is about a message that there is: $do', (one) => {
    expect(refused(withMail(ask('s-7')), one)).toEqual(['there is no message s-9']);
  });

  it('closes an ask for one of those who owe', () => {
    const { board } = change(withMail(ask('s-7')), { do: 'close-ask', message: 's-7', by: 'rex' });
    expect(board.mail.get('s-7')?.owes).toEqual(['ann']);
  });
});

describe('a timer', () => {
  it('is kept, and set', () => {
    const { board, effects } = change(boardWith([]), { do: 'set-timer', id: 't', at: 7 });
    expect([[...board.timers], effects]).toEqual([[['t', 7]], [{ effect: 'set-timer', id: 't', at: 7 }]]);
  });

  it.each<[string, string]>([
    ['', 'an id is required'],
    ['engine/x', 'ids must not begin with engine/'],
  ])('%j is no id for one', (id, why) => {
    const step = change(boardWith([]), { do: 'set-timer', id, at: 7 });
    expect([step.refused[0]?.why, step.board.timers.size, step.effects]).toEqual([why, 0, []]);
  });
});

describe('a record', () => {
  const put = (id: string, value: number | null, where = 'w'): PlanChange => ({ do: 'put', in: where, id, value });

  it('is stored, replaced and deleted, and leaves the board before it as it was', () => {
    const first = change(boardWith([]), put('a', 1), put('b', 2), put('a', 3)).board;
    expect([...(first.records.get('w') ?? [])]).toEqual([
      ['a', 3],
      ['b', 2],
    ]);
    const second = change(first, put('b', null), put('c', 4)).board;
    expect([first, second].map((one) => [...(one.records.get('w')?.keys() ?? [])])).toEqual([
      ['a', 'b'],
      ['a', 'c'],
    ]);
  });

  it('is copied once in a step', () => {
    const { board } = change(boardWith([]), put('a', 1), put('b', 2, 'v'), put('c', 3));
    expect([...board.records].map(([name, own]) => [name, own.size])).toEqual([
      ['w', 2],
      ['v', 1],
    ]);
  });

  it.each([put('', 1), put('a', 1, '')])('needs a place and an id: %j', (one) => {
    expect(refused(boardWith([]), one)).toEqual(['an id is required']);
  });
});

describe('a question of a playbook', () => {
  const question = (id: string, task = 'a'): PlanChange => ({
    do: 'ask',
    id,
    text: 'this plan?',
    options: ['yes'],
    task,
  });
  const old: Question = { id: 'old', text: '', options: [], blocks: [], by: 'playbook', answer: 'no' };
  const board = { ...boardWith([stateOf('a')]), questions: new Map([['old', old]]) };

  it('blocks its task', () => {
    expect(change(board, question('q')).board.questions.get('q')).toEqual({
      ...{ id: 'q', text: 'this plan?', options: ['yes'], blocks: ['a'], by: 'playbook', answer: null },
    });
  });

  it.each<[PlanChange, string]>([
    [question(''), 'an id is required'],
    [question('a/b'), 'an id of a question must not contain a slash'],
    [question('old'), 'old was asked before'],
    [question('q', 'z'), 'there is no task z'],
  ])('%j is refused', (one, why) => {
    const step = change(board, one);
    expect([step.refused.map((refusal) => refusal.why), step.board.questions]).toEqual([[why], board.questions]);
  });
});

describe('criteria that an agent wrote', () => {
  const criteria = [{ text: 'nice' }, { text: 'known', command: 'npm test' }, { text: 'new', command: 'rm -rf x' }];
  const propose = (agreed: boolean, has: Board['facts']['objective']['criteria'] = []) => {
    const board = boardWith([], { commands: ['npm test'] });
    const objective = { ...board.facts.objective, criteria: has };
    return change({ ...board, facts: { ...board.facts, objective } }, { do: 'propose-criteria', criteria, agreed });
  };

  it('have their commands where a person has read them, and else only those that may run', () => {
    expect(propose(true).board.facts.objective.criteria).toStrictEqual(criteria);
    expect(propose(false).board.facts.objective.criteria).toStrictEqual([
      ...criteria.slice(0, 2),
      { text: 'new', proposed: 'rm -rf x' },
    ]);
    expect(propose(false, [{ text: 'old', proposed: 'x' }]).board.facts.objective).toMatchObject({
      title: 'Try',
      criteria: [{}, {}, {}],
    });
  });

  it('do not replace those of the run', () => {
    const step = propose(true, [{ text: 'own' }, { text: 'other', proposed: 'x' }]);
    expect(step.refused.map(({ why }) => why)).toEqual(['the run has criteria of its own']);
    expect(step.board.facts.objective.criteria).toHaveLength(2);
  });
});

describe('the verdict of a task that read the run branch', () => {
  const verdict = { criterion: 0, met: false, evidence: null, why: 'it is missing' };
  const read: Partial<Work> = { head: 'base', author: { ...newWork().author, thread: { key: 'k', agent: 'rex' } } };
  const board = (work: Partial<Work> = read): Board => {
    const at = boardWith([stateOf('j', { workspace: { read: 'run' } }, work)]);
    const objective = { ...at.facts.objective, criteria: [{ text: 'nice' }] };
    return { ...at, facts: { ...at.facts, objective } };
  };
  const judge = (task = 'j'): PlanChange => ({ do: 'judge-criterion', task, ...verdict });

  it('is recorded with its agent and commit', () => {
    const recorded: RecordedVerdict[] = [{ task: 'j', by: 'rex', commit: 'base', verdict }];
    expect(change(board(), judge()).board.gate.recorded).toEqual(recorded);
  });

  it('counts for nothing once the branch has moved on', () => {
    const step = change(board({ ...read, head: 'old' }), judge());
    expect([step.refused, step.board.gate.recorded]).toEqual([[], []]);
  });

  it.each<[string, Board, string, string]>([
    ['no agent has read it', board({ head: 'base' }), 'j', 'no agent has worked on j'],
    ['nothing was read', board({ ...read, head: null }), 'j', 'no agent has worked on j'],
    ['there is no such task', board(), 'z', 'there is no task z'],
  ])('is refused where %s', (_, at, task, why) => expect(refused(at, judge(task))).toEqual([why]));
});
