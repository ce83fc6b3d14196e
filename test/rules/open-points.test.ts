import { describe, expect, it } from 'vitest';
import { createBoard } from '../../src/rules/board.ts';
import { concludeRun } from '../../src/rules/conclude.ts';
import { openPointsOf } from '../../src/rules/open-points.ts';
import { newWork } from '../../src/rules/work.ts';
import { NOT_WRITTEN } from '../../src/model/mail/effects.ts';
import type { Board, MailView, TaskState } from '../../src/model/plan/board.ts';
import type { TaskEnd, NewTask } from '../../src/model/plan/task.ts';
import type { Work } from '../../src/model/plan/work.ts';
import type { Json } from '../../src/text/json.ts';
import { factsOf, member } from '../playbooks/simulator.ts';
import { newTask } from './support.ts';

const BOB = member('bob', 'builder');

function ended(id: string, as: TaskEnd, more: Partial<NewTask> = {}, work: Partial<Work> = {}): TaskState {
  const phase = { at: 'ended', as, cause: as === 'failed' ? 'attempts' : null, why: 'it says why' } as const;
  return {
    task: newTask(id, more),
    work: { ...newWork(), phase, ...work },
    order: 0,
    depth: 0,
    at: {},
  } as unknown as TaskState;
}

function mail(id: string, more: Partial<MailView>): MailView {
  return { id, from: 'C', to: ['MAIN'], type: 'ask', body: {}, at: 1, owes: [], ...more };
}

interface About {
  readonly tasks?: readonly TaskState[];
  readonly mail?: readonly MailView[];
  readonly records?: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly remarks?: readonly string[];
}

/** A run that is done, with these on its board. */
function boardOf({ tasks = [], mail: sent = [], records = {}, remarks }: About): Board {
  let board = createBoard(factsOf([BOB]));
  for (const task of tasks) board = { ...board, tasks: board.tasks.with(task) };
  const finished = { outcome: 'done', why: 'all is there', ...(remarks === undefined ? {} : { remarks }) } as const;
  return {
    ...board,
    finished,
    mail: new Map(sent.map((one) => [one.id, one])),
    records: new Map(Object.entries(records).map(([name, own]) => [name, new Map(Object.entries(own))])),
  };
}

const DONE = ended('a', 'done');
const ROUND = { round: 2, commit: 'c', feedback: 'no', findings: [], by: [] } as const;
const OVERRULED = { ...ROUND, approved: false, overruled: true } as const;
const ASKED = mail('q', { action: 'clarify', via: 'a' });
const place = (stage: string, pass: number): Json => ({ task: 'x', stage, pass, as: 'work' });
const order = (message: string, answers: boolean): Json => ({ message, from: 'C', by: 'MAIN', answers });
const bySkip = { override: { as: 'skipped', by: 'dana', why: 'late' } } as Partial<Work>;
const without = (text: string): string[] => [text];

const ROWS: readonly [name: string, about: About, points: readonly string[]][] = [
  ['nothing', { tasks: [DONE] }, []],
  [
    'a task that failed',
    { tasks: [DONE, ended('b', 'failed')] },
    without('b failed, and the run continued without it'),
  ],
  [
    'tasks that ended in several ways',
    { tasks: [ended('b', 'failed'), ended('c', 'skipped'), ended('d', 'skipped'), ended('e', 'cancelled')] },
    [
      'b failed, and the run continued without it',
      'c, d were skipped, and the run continued without them',
      'e was cancelled, and the run continued without it',
    ],
  ],
  ['a task that a person skipped', { tasks: [ended('b', 'skipped', {}, bySkip)] }, []],
  [
    'a task that a person failed, which its stage does without',
    { tasks: [ended('b', 'failed', {}, { override: { as: 'failed', by: 'dana', why: 'no' } })] },
    without('b failed, and the run continued without it'),
  ],
  [
    'an assignment of a person that was refused',
    { mail: [mail('h', { action: 'assign' })] },
    ['1 assignment of C refused'],
  ],
  ['a task of the engine', { tasks: [ended('judge', 'failed', { owner: 'engine' })] }, []],
  [
    'tasks of a stage, by its name',
    {
      tasks: [ended('b', 'failed'), ended('c', 'failed')],
      records: { 'stage-tasks': { b: place('LINT', 1), c: place('LINT', 1) } },
    },
    without('LINT failed, and the run continued without it'),
  ],
  [
    'a task that a later pass of its stage replaced',
    {
      tasks: [ended('b', 'failed'), ended('b-2', 'done')],
      records: { 'stage-tasks': { b: place('LINT', 1), 'b-2': place('LINT', 2) } },
    },
    [],
  ],
  [
    'a task that only answers, whose question counts',
    { tasks: [DONE, ended('answer-1', 'failed')], mail: [ASKED], records: { mail: { 'answer-1': order('q', true) } } },
    ['1 question of C not answered'],
  ],
  [
    'a question that was answered',
    { tasks: [DONE], mail: [ASKED, mail('r', { action: 'answer', re: 'q', type: 'send' })] },
    [],
  ],
  [
    'a question that was answered by a fail',
    { tasks: [DONE], mail: [ASKED, mail('r', { re: 'q', type: 'fail' })] },
    ['1 question of C not answered'],
  ],
  ['a question of a task that is not done', { tasks: [ended('a', 'skipped', {}, bySkip)], mail: [ASKED] }, []],
  [
    'a change that no one verified',
    { tasks: [DONE], mail: [mail('q', { action: 'verify', via: 'a' })] },
    ['1 question of C not answered'],
  ],
  [
    'a change that was verified',
    { tasks: [DONE], mail: [mail('q', { action: 'verify', via: 'a' }), mail('r', { re: 'q', type: 'done' })] },
    [],
  ],
  [
    'a hand-off that was refused',
    { tasks: [DONE], mail: [mail('h', { action: 'assign', via: 'a', task: 'x' })] },
    ['1 assignment of C refused'],
  ],
  [
    'a hand-off of a task that is not done',
    { tasks: [ended('a', 'failed')], mail: [mail('h', { action: 'assign', via: 'a', task: 'x' })] },
    ['a failed, and the run continued without it', '1 assignment of C refused'],
  ],
  [
    'a hand-off that became a task',
    {
      tasks: [DONE, ended('b', 'done')],
      mail: [mail('h', { action: 'assign', via: 'a' })],
      records: { mail: { b: order('h', false) } },
    },
    [],
  ],
  [
    'an assignment whose task could not be added, because the run had finished',
    { tasks: [DONE], mail: [mail('h', { action: 'assign' })], records: { mail: { b: order('h', false) } } },
    ['1 assignment of C refused'],
  ],
  [
    'an assignment that a task is about',
    {
      tasks: [DONE, ended('b', 'done', { brief: { text: 'Do it.', mail: ['h'] } })],
      mail: [mail('h', { action: 'assign', via: 'a' })],
    },
    [],
  ],
  [
    'an answer whose document was not delivered',
    {
      tasks: [DONE],
      mail: [mail('r', { from: 'MAIN', type: 'send', action: 'answer', body: { answer: 'so', reason: NOT_WRITTEN } })],
    },
    ['documentation that MAIN promised is missing'],
  ],
  [
    'a rejection that was overruled',
    { tasks: [ended('a', 'done', {}, { rounds: [OVERRULED] }), ended('b', 'done', {}, { rounds: [OVERRULED] })] },
    ['the last rejections of a, b were overruled'],
  ],
  [
    'a rejection that was overruled, and then an approval',
    { tasks: [ended('a', 'done', {}, { rounds: [OVERRULED, { ...ROUND, approved: true }] })] },
    [],
  ],
  ['what the playbook has to say', { tasks: [DONE], remarks: ['open: the retry'] }, ['open: the retry']],
];

describe('what is open in a run that is done', () => {
  it.for(ROWS)('is read from the board: %s', ([, about, points]) => {
    expect(openPointsOf(boardOf(about))).toEqual(points);
  });

  it('is in the headline and the exit code of a strict run, and nothing is called verified', () => {
    const board = boardOf({ tasks: [DONE], remarks: ['open: the retry'] });
    expect(concludeRun({ board, problem: undefined, strict: true })).toMatchObject({
      outcome: 'done',
      headline: 'DONE, nothing was checked; open: the retry',
      exitCode: 1,
    });
  });
});

describe('what a run leaves open', () => {
  const working = (id: string): TaskState => ({ ...ended(id, 'done'), work: newWork() });
  const answers = mail('r', { type: 'send', action: 'answer', re: 'q' });
  const assign = (id: string, more: Partial<MailView> = {}) => mail(id, { action: 'assign', ...more });
  it.each<[string, About, readonly string[]]>([
    ['nothing of a task that is still open', { tasks: [working('a')] }, []],
    [
      'rejections that were overruled',
      { tasks: [ended('a', 'done', {}, { rounds: [OVERRULED] }), ended('b', 'done', {}, { rounds: [OVERRULED] })] },
      ['the last rejections of a, b were overruled'],
    ],
    [
      'one of them',
      { tasks: [ended('a', 'done', {}, { rounds: [OVERRULED] })] },
      ['the last rejection of a was overruled'],
    ],
    [
      'not one of a task that failed',
      { tasks: [ended('a', 'failed', {}, { rounds: [OVERRULED] })] },
      ['a failed, and the run continued without it'],
    ],
    [
      'not one of a task that is open',
      { tasks: [{ ...working('a'), work: { ...newWork(), rounds: [OVERRULED] } }] },
      [],
    ],
    [
      'a cancelled task, also where a person skipped it before',
      { tasks: [ended('a', 'cancelled', {}, bySkip)] },
      ['a was cancelled, and the run continued without it'],
    ],
    ['a question', { tasks: [DONE], mail: [ASKED] }, ['1 question of C not answered']],
    ['not one with an answer', { tasks: [DONE], mail: [ASKED, answers] }, []],
    [
      'one whose answer is to another',
      { tasks: [DONE], mail: [ASKED, { ...answers, re: 'z' }] },
      ['1 question of C not answered'],
    ],
    ['not one of work that is not done', { tasks: [ended('a', 'cancelled', { owner: 'engine' })], mail: [ASKED] }, []],
    ['not one of a task that is gone', { mail: [ASKED] }, []],
    ['not one without a task', { mail: [mail('q', { action: 'clarify' })] }, []],
    ['not a message without an action', { tasks: [DONE], mail: [mail('q', { via: 'a' })] }, []],
    [
      'questions of several',
      {
        tasks: [DONE],
        mail: [ASKED, mail('p', { action: 'review', via: 'a', from: 'D' }), mail('s', { action: 'verify', via: 'a' })],
      },
      ['3 questions of C, D not answered'],
    ],
    ['an assignment', { mail: [assign('m')] }, ['1 assignment of C refused']],
    ['not one that a playbook sent', { mail: [assign('m', { key: 'k' })] }, []],
    [
      'not one that was planned',
      { tasks: [DONE], mail: [assign('m')], records: { mail: { a: order('m', false) } } },
      [],
    ],
    [
      'not one that a task has',
      { tasks: [ended('a', 'done', { brief: { text: '', mail: ['m'] } })], mail: [assign('m')] },
      [],
    ],
    [
      'one whose task is gone',
      { mail: [assign('m')], records: { mail: { a: order('m', false) } } },
      ['1 assignment of C refused'],
    ],
    [
      'what was said again once',
      { tasks: [DONE], mail: [assign('m', { via: 'a', task: 't' }), assign('n', { via: 'a', task: 't' })] },
      ['1 assignment of C refused'],
    ],
    [
      'the last one counts',
      {
        tasks: [DONE],
        mail: [assign('m', { task: 't' }), assign('n', { task: 't' })],
        records: { mail: { a: order('n', false) } },
      },
      [],
    ],
    [
      'one for each task',
      { mail: [assign('m', { task: 't' }), assign('n', { task: 'u' })] },
      ['2 assignments of C refused'],
    ],
    [
      'one for each turn',
      { mail: [assign('m', { task: 't', via: 'a' }), assign('n', { task: 't', via: 'b' })] },
      ['2 assignments of C refused'],
    ],
    [
      'one for each recipient',
      { mail: [assign('m', { task: 't', to: ['A', 'B'] }), assign('n', { task: 't', to: ['AB'] })] },
      ['2 assignments of C refused'],
    ],
    ['one for each without a task', { mail: [assign('m'), assign('n')] }, ['2 assignments of C refused']],
    [
      'documentation',
      {
        mail: [
          mail('m', { action: 'answer', body: { reason: NOT_WRITTEN } }),
          mail('n', { action: 'answer', from: 'D', body: { reason: NOT_WRITTEN } }),
        ],
      },
      ['documentation that C, D promised is missing'],
    ],
    [
      'not what is no answer',
      {
        mail: [
          mail('m', { action: 'review', body: { reason: NOT_WRITTEN } }),
          mail('n', { action: 'answer', body: 'x' }),
          mail('o', { action: 'answer', body: null }),
        ],
      },
      [],
    ],
    [
      'not what a later pass replaced',
      {
        tasks: [ended('a', 'failed'), ended('b', 'done')],
        records: { 'stage-tasks': { a: place('S', 1), b: place('S', 2) } },
      },
      [],
    ],
    [
      'what another stage has done since',
      {
        tasks: [ended('a', 'failed'), ended('b', 'done')],
        records: { 'stage-tasks': { a: place('S', 1), b: place('T', 2) } },
      },
      ['S failed, and the run continued without it'],
    ],
    [
      'what has no place',
      { tasks: [ended('a', 'failed'), ended('b', 'done')], records: { 'stage-tasks': { a: 'odd', b: place('T', 2) } } },
      ['a failed, and the run continued without it'],
    ],
    [
      'not what only answers a question',
      { tasks: [ended('a', 'failed')], records: { mail: { a: order('m', true) } } },
      [],
    ],
    [
      'what was ordered',
      { tasks: [ended('a', 'failed')], records: { mail: { a: order('m', false), b: 'odd' } } },
      ['a failed, and the run continued without it'],
    ],
    [
      'what has a place, beside what has none',
      { tasks: [ended('a', 'failed'), ended('b', 'done')], records: { 'stage-tasks': { a: place('S', 1), b: 'odd' } } },
      ['S failed, and the run continued without it'],
    ],
    [
      'what is not ordered by a message',
      { tasks: [ended('c', 'failed'), ended('b', 'done')], records: { mail: { b: 'odd' } } },
      ['c failed, and the run continued without it'],
    ],
    ['what its agents said', { remarks: ['one is open'] }, ['one is open']],
  ])('%s', (_, about, points) => expect(openPointsOf(boardOf(about))).toEqual(points));

  it('and nothing where it has not finished', () => {
    expect(openPointsOf({ ...boardOf({ tasks: [DONE] }), finished: null })).toEqual([]);
  });
});
