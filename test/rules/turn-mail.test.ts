import { describe, expect, it } from 'vitest';
import { applyChanges } from '../../src/rules/apply-changes.ts';
import { applyWork } from '../../src/rules/plan-step.ts';
import { createBoard } from '../../src/rules/board.ts';
import { decideFrontier, type Start } from '../../src/rules/frontier.ts';
import { messagesFor, receiversOf, recipientsOf } from '../../src/rules/turn-mail.ts';
import { DEFAULT_PLAN_LIMITS, type Board, type Member } from '../../src/model/plan/board.ts';
import { newTask } from './support.ts';

const AT = { seq: 1, at: 1_000 };
const ROSTER: Member[] = [
  { name: 'a', role: 'builder', account: 'x', commits: true },
  { name: 'chief', role: 'main', account: 'y', commits: true },
];

function board(): Board {
  const objective = { title: 'o', goals: [], criteria: [], constraints: [], context: '', text: 'o' };
  const facts = {
    objective,
    options: null,
    roster: ROSTER,
    runtimes: {},
    judges: ['reviewer', 'member'],
    limits: DEFAULT_PLAN_LIMITS,
    verifies: false,
    base: 'base',
  };
  const tasks = [
    newTask('one', { agent: 'a' }),
    newTask('two', { agent: 'a', brief: { text: 'b', mail: ['m-9'] } }),
    newTask('over'),
  ];
  const changes = tasks.map((task) => ({ do: 'add-task', task }) as const);
  const over = { do: 'settle-task', id: 'over', as: 'skipped', why: 'w' } as const;
  return applyChanges(createBoard(facts), [...changes, over], AT).board;
}

type Turn = Extract<Start, { start: 'turn' }>;

function turn(task: string): Turn {
  const starts = decideFrontier(board(), 9).starts;
  const found = starts.find((one): one is Turn => one.start === 'turn' && one.task === task);
  if (found === undefined) throw new Error(`${task} does not start`);
  return found;
}

function message(id: string, task?: string, recipient = 'A') {
  return { message: { id, ...(task === undefined ? {} : { task_id: task }) }, recipient };
}

const UNREAD = [
  message('m-1'),
  message('m-2', 'one'),
  message('m-3', 'two'),
  message('m-4', 'over'),
  message('m-5', 'DOC-1'),
  message('m-6', undefined, 'builder'),
  message('m-9', 'two', 'builder'),
];

describe('messages that go with a turn', () => {
  it.each<[string, string, Partial<Turn>, string[]]>([
    ['about it, and about nothing that is open', 'one', {}, ['m-1', 'm-2', 'm-4', 'm-5']],
    ['what its task is there for, also to its role', 'two', {}, ['m-1', 'm-3', 'm-4', 'm-5', 'm-9']],
    ['of a reviewer: about what it judges alone', 'one', { review: 'builder' }, ['m-2']],
    ['of nobody on the roster', 'one', { agent: 'gone' }, []],
  ])('%s', (_title, task, more, expected) => {
    const found = messagesFor({ ...turn(task), ...more }, board(), UNREAD);
    expect(found.map(({ message }) => message.id)).toEqual(expected);
  });

  it.each<[string, string, Partial<Turn>, string[]]>([
    ['its own', 'one', {}, ['A']],
    ['its role’s too, where mail made the task', 'two', {}, ['A', 'builder']],
    ['not for a review', 'two', { review: 'builder' }, ['A']],
    ['none', 'one', { agent: 'gone' }, []],
  ])('are looked for at addresses: %s', (_title, task, more, expected) => {
    expect(recipientsOf({ ...turn(task), ...more }, board())).toEqual(expected);
  });
});

describe('who could take mail', () => {
  const hold = { verb: 'pause', by: 'ada', at: 1 } as const;
  const started = {
    type: 'attempt-started',
    attempt: 'one-1',
    agent: 'a',
    account: 'x',
    session: 's',
    review: null,
  } as const;

  it.each<[string, Board, string[]]>([
    ['everybody who is idle', board(), ['A', 'MAIN']],
    ['nobody at work', applyWork(board(), 'one', started, AT).board, ['MAIN']],
    [
      'everybody from the reset on',
      { ...board(), accounts: new Map([['y', { until: 1_000, probe: null }]]) },
      ['A', 'MAIN'],
    ],
    ['nobody at a limit', { ...board(), accounts: new Map([['y', { until: 2_000, probe: null }]]) }, ['A']],
    [
      'everybody whose limit is over',
      { ...board(), accounts: new Map([['y', { until: 900, probe: null }]]) },
      ['A', 'MAIN'],
    ],
    ['nobody who is paused', { ...board(), pauses: new Map([['agent/a', hold]]) }, ['MAIN']],
    ['nobody of a run that is', { ...board(), pauses: new Map([['run', hold]]) }, []],
  ])('%s', (_title, now, expected) => expect(receiversOf(now)).toEqual(expected));
});

describe('a turn of an agent', () => {
  it('that has its role’s name has one address', () => {
    const facts = { ...board().facts, roster: [{ ...ROSTER[0]!, name: 'builder' }] };
    expect(recipientsOf({ ...turn('two'), agent: 'builder' }, { ...board(), facts })).toEqual(['builder']);
  });

  it('whose task is gone gets what is about nothing that is open', () => {
    const gone = { ...turn('one'), task: 'gone' };
    expect(messagesFor(gone, board(), UNREAD).map(({ message: { id } }) => id)).toEqual(['m-1', 'm-4', 'm-5']);
    expect(recipientsOf(gone, board())).toEqual(['A']);
  });

  it('that reviews gets no message that added what it reviews', () => {
    const review = { ...turn('two'), review: 'builder' };
    expect(
      messagesFor(review, board(), [message('m-9', 'two'), message('m-3', 'two')]).map(({ message: { id } }) => id),
    ).toEqual(['m-3']);
  });
});
