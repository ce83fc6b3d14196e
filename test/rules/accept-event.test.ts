import { describe, expect, it } from 'vitest';
import { acceptEvent } from '../../src/rules/accept-event.ts';
import { applyWork } from '../../src/rules/plan-step.ts';
import { newWork } from '../../src/rules/work.ts';
import type { BaselineFacts } from '../../src/model/plan/baseline.ts';
import type { Board, MailView, Question } from '../../src/model/plan/board.ts';
import type { PlanNews } from '../../src/model/plan/event.ts';
import type { RequestState, Work } from '../../src/model/plan/work.ts';
import { failed } from '../playbooks/simulator.ts';
import { boardWith, liveRequest, stateOf } from './support.ts';

const AT = { seq: 5, at: 9_000 };
const hear = (board: Board, news: PlanNews) => acceptEvent(board, { ...AT, ...news });
const inState = (id: string, state: RequestState) => stateOf(id, {}, { author: { ...newWork().author, state } });

function asks(id: string, more: Partial<Question> = {}): Question {
  return { ...{ id, text: `${id}?`, options: [], blocks: ['a'], by: 'engine', answer: null }, ...more };
}

function asked(more: Partial<Question> & { id: string }, board: Partial<Board> = {}): Board {
  const blocked = inState('a', { at: 'blocked', question: more.id });
  return { ...boardWith([blocked]), questions: new Map([[more.id, asks(more.id, more)]]), ...board };
}

describe('a timer', () => {
  it.each<[string, string[], boolean]>([
    ['mine', ['engine/x', 'other'], true],
    ['engine/x', ['mine', 'other'], false],
    ['gone', ['mine', 'engine/x', 'other'], true],
  ])('%s is due once, and a playbook hears of its own', (id, left, heard) => {
    const timers = new Map([
      ['mine', 1],
      ['engine/x', 1],
      ['other', 1],
    ]);
    const { board, events } = hear({ ...boardWith([]), timers }, { type: 'timer', id });
    expect([...board.timers.keys()]).toEqual(left);
    expect(events).toEqual(heard ? [{ ...AT, type: 'timer', id }] : []);
  });
});

describe('an answer', () => {
  const answer = (board: Board, question: string, text = 'yes') =>
    hear(board, { type: 'answer', question, answer: text, by: 'ada' });

  it.each<[string, Board, string]>([
    ['to nothing that was asked', boardWith([stateOf('a')]), 'q'],
    ['after the first one', asked({ id: 'q', answer: 'no' }), 'q'],
  ])('%s changes nothing', (_, board, question) => {
    expect(answer(board, question).board).toEqual({ ...board, now: 9_000, seq: 5 });
  });

  it('to a playbook’s question is the playbook’s', () => {
    const { board, events } = answer(asked({ id: 'q', by: 'playbook' }), 'q');
    expect(events).toEqual([{ ...AT, type: 'answered', question: 'q', answer: 'yes', by: 'ada' }]);
    expect([board.questions.get('q')?.answer, board.tasks.get('a')?.work.author.state.at]).toEqual(['yes', 'blocked']);
  });

  it.each<[string, string, object]>([
    ['try again', 'goes on', { at: 'working' }],
    ['give up', 'fails', { at: 'ended', as: 'failed', why: 'engine/setup-failed: a person gave up on it' }],
  ])('%s to the engine’s: its task %s', (text, _, phase) => {
    const { board } = answer(asked({ id: 'engine/setup-failed' }), 'engine/setup-failed', text);
    expect(board.tasks.get('a')?.work.phase).toMatchObject(phase);
  });

  it('about the base commit concerns it alone, unless it ends the run', () => {
    const facts: BaselineFacts = {
      commit: 'c1',
      commands: [
        {
          purpose: 'setup',
          run: 'npm ci',
          passed: false,
          cannotRun: false,
          how: 'exited with 1',
          words: 'no',
          output: 'no',
        },
      ],
    };
    const baseline = { at: 'known', tries: 1, facts, question: 'engine/setup-failed', without: null } as const;
    const of = (question: string) => asked({ id: question }, { baseline });
    const own = answer(of('engine/setup-failed'), 'engine/setup-failed', 'try again').board;
    expect([own.baseline.question, own.tasks.get('a')?.work.author.state.at]).toEqual([null, 'queued']);
    const other = answer(of('engine/other'), 'engine/other', 'try again').board;
    expect(other.baseline).toBe(baseline);
    const end = answer(of('engine/setup-failed'), 'engine/setup-failed', 'give up').board;
    expect(end.finished?.outcome).toBe('failed');
    // Ended with the run, and not once more for the question.
    expect(end.tasks.get('a')?.work.phase).toMatchObject({
      as: 'cancelled',
      why: expect.stringMatching(/^the run has ended/),
    });
  });
});

describe('mail that is overdue', () => {
  const ask = (id: string, action: 'clarify' | 'review'): MailView => ({
    ...{ id, from: 'bob', to: ['rex'], type: 'ask', action, body: {}, at: 1, owes: ['rex'] },
  });
  it.each<[string, string, string | undefined, 'clarify' | 'review', string[]]>([
    ['silence is an answer', 's-7', undefined, 'review', []],
    ['but not to a question', 's-7', undefined, 'clarify', ['rex']],
    ['to what a playbook sent, by its key', 'key:k', 'k', 'review', []],
  ])('%s', (_, id, key, action, owes) => {
    const mail = new Map([[id, ask(id, action)]]);
    const news = {
      type: 'overdue',
      message: key === undefined ? id : 's-9',
      to: 'rex',
      action,
      ...(key && { key }),
    } as const;
    const { board, events } = hear({ ...boardWith([]), mail }, news);
    expect(board.mail.get(id)?.owes).toEqual(owes);
    expect(events).toEqual([{ ...AT, ...news }]);
  });
});

it('a clock that is set back ends every wait that much earlier, and nothing else', () => {
  const blocked: RequestState = { at: 'blocked', question: 'q' };
  const before: Board = {
    ...boardWith([inState('a', { at: 'waiting', until: 5_000 }), inState('b', blocked)]),
    accounts: new Map([['x', { until: 4_000, probe: 'p' }]]),
    timers: new Map([['t', 3_000]]),
  };
  const { board } = hear(before, { type: 'clock-set-back', ms: 1_000 });
  expect(['a', 'b'].map((id) => board.tasks.get(id)?.work.author.state)).toStrictEqual([
    { at: 'waiting', until: 4_000 },
    blocked,
  ]);
  expect([...board.accounts.values(), ...board.timers.values()]).toEqual([{ until: 3_000, probe: 'p' }, 2_000]);
});

describe('a problem that several tasks have', () => {
  const fail = (board: Board, task: string) =>
    applyWork(
      board,
      task,
      { type: 'attempt-settled', attempt: `${task}-1`, outcome: 'failed', text: '', ...failed('setup-failed') },
      AT,
    ).board;
  const states = ['a', 'b'].map((id) => stateOf(id, {}, { author: liveRequest(`${id}-1`) }));
  const ID = 'engine/setup-failed';

  it('is one question', () => {
    const both = fail(fail(boardWith(states), 'a'), 'b');
    expect([...both.questions.values()]).toMatchObject([{ id: ID, blocks: ['a', 'b'], by: 'engine', answer: null }]);
    expect([...fail(fail(boardWith(states.slice(0, 1)), 'a'), 'a').questions.values()]).toMatchObject([
      { blocks: ['a'] },
    ]);
  });

  it.each<[string, Partial<Question>, Question['blocks']]>([
    ['is asked anew after an answer', { answer: 'try again', blocks: ['z'] }, ['a']],
    ['of the run is asked for the task', { blocks: 'run' }, ['a']],
    ['joins the others', { blocks: ['z'] }, ['z', 'a']],
  ])('%s', (_, more, blocks) => {
    const board = { ...boardWith(states), questions: new Map([[ID, asks(ID, more)]]) };
    expect(fail(board, 'a').questions.get(ID)).toMatchObject({ blocks, answer: null });
  });

  it('keeps a task waiting until then, by a timer', () => {
    const work: Partial<Work> = { author: liveRequest('a-1') };
    const step = applyWork(
      boardWith([stateOf('a', {}, work)]),
      'a',
      { type: 'attempt-settled', attempt: 'a-1', outcome: 'failed', text: '', ...failed('network') },
      AT,
    );
    const state = step.board.tasks.get('a')?.work.author.state;
    expect(step.effects).toMatchObject([{ effect: 'set-timer', at: state?.at === 'waiting' ? state.until : 0 }]);
  });
});
