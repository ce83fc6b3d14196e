import { describe, expect, it } from 'vitest';
import { acceptEvent } from '../../src/rules/accept-event.ts';
import { applyChanges } from '../../src/rules/apply-changes.ts';
import { applyWork } from '../../src/rules/plan-step.ts';
import { createBoard } from '../../src/rules/board.ts';
import { createView } from '../../src/rules/view.ts';
import { DEFAULT_PLAN_LIMITS, type Board, type Member, type TaskState } from '../../src/model/plan/board.ts';
import type { PlanNews } from '../../src/model/plan/event.ts';
import type { WorkEvent } from '../../src/model/plan/work.ts';
import { newTask } from './support.ts';

const AT = { seq: 1, at: 1_000 };
const BOB: Member = { name: 'bob', role: 'builder', account: 'x', commits: true };
const CHIEF: Member = { name: 'chief', role: 'main', account: 'y', commits: true };

/** `bob` is at work on `a`. */
function board(roster: readonly Member[] = [BOB]): Board {
  const facts = {
    objective: { title: 'o', goals: [], criteria: [], constraints: [], context: '', text: 'o' },
    options: null,
    roster,
    runtimes: {},
    judges: ['reviewer', 'member'],
    limits: DEFAULT_PLAN_LIMITS,
    verifies: false,
    base: 'base',
  };
  const planned = applyChanges(createBoard(facts), [{ do: 'add-task', task: newTask('a') }], AT).board;
  return applyWork(planned, 'a', STARTED, AT).board;
}

const STARTED: WorkEvent = {
  type: 'attempt-started',
  attempt: 'a-1',
  agent: 'bob',
  account: 'x',
  session: 's',
  review: null,
};
const SETTLED = { type: 'attempt-settled', attempt: 'a-1', outcome: 'completed', text: '' } as const;
const ASK: Extract<PlanNews, { type: 'mail' }> = {
  type: 'mail',
  id: 'sess-1-7',
  from: 'bob',
  to: ['MAIN'],
  kind: 'ask',
  action: 'clarify',
  task: 'a',
  via: 'a',
  body: { question: 'which one?', context: 'two fit', code_path: 'src/a.ts' },
};
const ANSWER: Extract<PlanNews, { type: 'mail' }> = {
  ...ASK,
  id: 'sess-1-8',
  from: 'MAIN',
  to: ['bob'],
  kind: 'send',
  action: 'answer',
  re: { id: 'sess-1-7', from: 'bob', action: 'clarify' },
  via: 'answer-7-chief',
  body: { answer: 'the first', reason: 'it is older' },
};

function take(before: Board, ...news: PlanNews[]): Board {
  return news.reduce((now, one) => acceptEvent(now, { ...one, ...AT }).board, before);
}

function work(now: Board, event: WorkEvent) {
  return applyWork(now, 'a', event, AT);
}

const stateOf = (now: Board) => now.tasks.get('a')?.work.author;

describe('a question by mail', () => {
  const asked = (): Board => take(board([BOB, CHIEF]), ASK);
  const waiting = () => work(asked(), { ...SETTLED, awaits: [ASK.id] });

  it('holds its turn’s task until it is answered: nothing is looked for before', () => {
    expect(stateOf(waiting().board)?.state).toEqual({ at: 'blocked', question: 'mail/7' });
    expect(waiting().board.tasks.get('a')?.work.phase.at).toBe('working');
    expect(createView(waiting().board).unanswered('MAIN')).toMatchObject([{ id: ASK.id }]);
  });

  it('lets it go on in its session once it is', () => {
    const after = take(waiting().board, ANSWER);
    expect(stateOf(after)).toMatchObject({ state: { at: 'queued' }, prompt: { why: 'answered' }, session: 'same' });
    expect(createView(after).unanswered()).toEqual([]);
    expect(createView(after).mail({ re: ASK.id })).toMatchObject([{ id: ANSWER.id, from: 'MAIN' }]);
  });

  it('does not hold it where the answer came while it was still at work, and is read then', () => {
    const early = work(take(asked(), ANSWER), { ...SETTLED, awaits: [ASK.id] });
    expect(stateOf(early.board)).toMatchObject({ state: { at: 'queued' }, prompt: { why: 'answered' } });
  });

  it('is no reason to wait for what the turn has read already', () => {
    const read = work(take(asked(), ANSWER), SETTLED);
    expect(read.board.tasks.get('a')?.work.phase.at).toBe('gathering');
  });

  it('is answered by nobody but who was asked', () => {
    const stranger = take(waiting().board, { ...ANSWER, from: 'c' });
    expect(stateOf(stranger)?.state.at).toBe('blocked');
  });

  it('goes on once all that its turn asked is answered', () => {
    const second: PlanNews = { ...ASK, id: 'sess-1-9' };
    const both = work(take(asked(), second), { ...SETTLED, awaits: [ASK.id, second.id] }).board;
    const one = take(both, ANSWER);
    expect(stateOf(one)?.state.at).toBe('blocked');
    const rest = take(one, { ...ANSWER, id: 'sess-1-10', re: { id: second.id, from: 'bob' } });
    expect(stateOf(rest)?.state.at).toBe('queued');
  });

  it('is not answered by a word to somebody else', () => {
    const other = take(waiting().board, { ...ANSWER, to: ['c'] });
    expect(stateOf(other)?.state.at).toBe('blocked');
  });

  it('comes before the form of an answer: whoever asks has none yet', () => {
    const task = newTask('a', { output: { schema: 'plan', repairs: 1 }, requires: [], integrate: false });
    const { facts } = board([BOB, CHIEF]);
    const planned = applyChanges(createBoard(facts), [{ do: 'add-task', task }], AT).board;
    const live = applyWork(planned, 'a', STARTED, AT).board;
    const held = work(take(live, ASK), { ...SETTLED, awaits: [ASK.id] });
    expect(stateOf(held.board)?.state.at).toBe('blocked');
  });

  it('waits for the document that its answer speaks of', () => {
    const task = newTask('answer-7-chief', { role: 'main', agent: 'chief' });
    const planned = applyChanges(waiting().board, [{ do: 'add-task', task }], AT).board;
    const promised = take(planned, { ...ANSWER, body: { answer: 'see docs', doc_updated: true } });
    expect(stateOf(promised)?.state.at).toBe('blocked');
    const closed = applyChanges(promised, [{ do: 'close-ask', message: ASK.id, by: 'MAIN' }], AT);
    expect(stateOf(closed.board)?.state.at).toBe('queued');
  });

  it.each([
    ['written', { phase: { at: 'ended', as: 'done', cause: null, why: 'delivered' }, commit: 'c1' }],
    ['not written', { phase: { at: 'ended', as: 'failed', cause: 'rejected', why: 'no' }, commit: null }],
    ['in another task', undefined],
  ] as const)('sends on what its answer says of a document only as it is: %s', (what, ended) => {
    const task = newTask('answer-7-chief', {
      role: 'main',
      agent: 'chief',
      ...(ended ? {} : { workspace: { read: 'run' }, integrate: false, requires: [] }),
    });
    const planned = applyChanges(waiting().board, [{ do: 'add-task', task }], AT).board;
    const promise = { ...ANSWER, via: task.id, body: { answer: 'see docs', doc_updated: true, doc_path: 'docs/a.md' } };
    const promised = acceptEvent(planned, { ...promise, ...AT });
    const state = promised.board.tasks.get(task.id);
    if (state === undefined) throw new Error('no task');
    const author = { ...state.work.author, thread: { agent: 'chief', key: 'chief', session: 'chief' } };
    const after = {
      ...state,
      at: { ...state.at, ended: AT.at },
      work: { ...state.work, ...ended, author },
    } as TaskState;
    const board = { ...promised.board, tasks: promised.board.tasks.with(after) };
    const { effects } = ended
      ? applyChanges(board, [{ do: 'close-ask', message: ASK.id, by: 'MAIN' }], AT)
      : { effects: promised.effects };
    const sent = effects.flatMap((effect) => (effect.effect === 'send' ? [effect.message] : []));
    expect(sent).toMatchObject([{ from: 'MAIN', to: ['bob'], action: 'answer', corr: ASK.id }]);
    expect(sent[0]?.body).toEqual(
      what === 'written'
        ? { answer: 'see docs', doc_updated: true, doc_path: 'docs/a.md' }
        : { answer: 'see docs', reason: expect.stringContaining('has delivered no change') },
    );
  });

  it('has an end: after ten of them what was done is looked at', () => {
    let now = board([BOB, CHIEF]);
    for (let n = 1; n <= 10; n += 1) {
      const id = `sess-1-${n * 2}`;
      now = take(now, { ...ASK, id });
      now = work(now, { ...SETTLED, attempt: `a-${n}`, awaits: [id] }).board;
      now = take(now, { ...ANSWER, id: `sess-1-${n * 2 + 1}`, re: { id, from: 'bob' } });
      expect(stateOf(now)?.state.at).toBe('queued');
      now = work(now, { ...STARTED, attempt: `a-${n + 1}` }).board;
    }
    now = take(now, { ...ASK, id: 'sess-1-99' });
    const last = work(now, { ...SETTLED, attempt: 'a-11', awaits: ['sess-1-99'] });
    expect(last.board.tasks.get('a')?.work.phase.at).toBe('gathering');
  });
});

describe('a question to a person', () => {
  const waiting = (): Board => work(take(board(), ASK), { ...SETTLED, awaits: [ASK.id] }).board;

  it('is asked once, by its number', () => {
    const questions = [...take(waiting(), { ...ASK }).questions.values()];
    expect(questions).toMatchObject([
      { id: 'mail/7', by: 'mail', blocks: ['a'], text: 'bob asks: which one? · two fit · src/a.ts' },
    ]);
  });

  it('is answered like any other, and its answer is sent', () => {
    const answered = acceptEvent(waiting(), {
      type: 'answer',
      question: 'mail/7',
      answer: 'the first',
      by: 'ada',
      ...AT,
    });
    expect(answered.effects).toMatchObject([
      {
        effect: 'send',
        message: { to: ['bob'], type: 'send', action: 'answer', corr: ASK.id, body: { answer: 'the first' } },
      },
    ]);
    expect(stateOf(answered.board)?.state.at).toBe('queued');
    expect(answered.board.questions.get('mail/7')?.answer).toBe('the first');
    expect(answered.events).toEqual([]);
  });

  it('is withdrawn once a person has decided on the task otherwise', () => {
    const skip = { verb: 'skip', task: 'a', why: 'no need' } as const;
    const skipped = acceptEvent(waiting(), { type: 'intervention', intervention: skip, by: 'ada', ...AT }).board;
    expect(skipped.questions.get('mail/7')?.answer).toBe('withdrawn');
  });

  it('is closed by a mail of theirs as well', () => {
    const after = take(waiting(), { ...ANSWER, via: undefined });
    expect(after.questions.get('mail/7')?.answer).toBe('the first');
    expect(stateOf(after)?.state.at).toBe('queued');
  });

  it('is not closed by a question of theirs', () => {
    const back = take(waiting(), { ...ANSWER, via: undefined, kind: 'ask', action: 'clarify', to: ['bob'] });
    expect(back.questions.get('mail/7')?.answer).toBe(null);
    expect(stateOf(back)?.state.at).toBe('blocked');
  });
});

describe('what a playbook sends', () => {
  const send = { do: 'send', to: ['bob', 'A'], type: 'ask', action: 'review', key: 'r', body: {} } as const;
  const reply: PlanNews = {
    ...ANSWER,
    kind: 'report',
    action: 'review_feedback',
    from: 'bob',
    to: ['MAIN'],
    re: { id: 'sess-1-3', key: 'r', from: 'MAIN' },
  };
  const sent = (): Board => applyChanges(board(), [{ ...send, to: [...send.to] }], AT).board;

  it('is known by its key, and so are the replies to it', () => {
    const after = take(sent(), reply);
    expect(createView(after).mail({ key: 'r' })).toMatchObject([{ id: 'key:r', owes: ['A'] }]);
    expect(createView(after).mail({ re: 'key:r' })).toMatchObject([{ from: 'bob', type: 'report' }]);
  });

  it('is answered by silence once its time is over, but for a question', () => {
    const overdue = { type: 'overdue', message: 'sess-1-3', to: 'A', action: 'review', key: 'r' } as const;
    expect(createView(take(take(sent(), reply), overdue)).unanswered()).toEqual([]);
    const question = take(board([BOB, CHIEF]), ASK, {
      type: 'overdue',
      message: ASK.id,
      to: 'MAIN',
      action: 'clarify',
    });
    expect(createView(question).unanswered('MAIN')).toHaveLength(1);
  });

  it('can answer in a member’s name', () => {
    const answer = { do: 'send', from: 'A', to: ['MAIN'], type: 'done', corrKey: 'r', body: {} } as const;
    const after = applyChanges(sent(), [{ ...answer, to: [...answer.to] }], AT).board;
    expect(createView(after).mail({ key: 'r' })).toMatchObject([{ owes: ['bob'] }]);
  });
});

it('a refusal is told to the sender, and nobody waits any longer', () => {
  const before = work(take(board([BOB, CHIEF]), ASK), { ...SETTLED, awaits: [ASK.id] }).board;
  const step = applyChanges(before, [{ do: 'refuse-mail', message: ASK.id, reason: 'not now' }], AT);
  expect(step.effects).toMatchObject([
    {
      effect: 'send',
      message: { from: 'ROUTER', to: ['bob'], type: 'fail', corr: ASK.id, body: { reason: 'not now' } },
    },
  ]);
  expect(stateOf(step.board)?.state.at).toBe('queued');
});
