import { describe, expect, it } from 'vitest';
import { draftOf, type Draft } from '../../src/rules/board.ts';
import { acceptMail, answerByPerson, closeAsk, closeByPlan, noteSent } from '../../src/rules/mail.ts';
import { newWork } from '../../src/rules/work.ts';
import type { MailView, Member, Question, RunFacts, TaskState } from '../../src/model/plan/board.ts';
import type { PlanChange } from '../../src/model/plan/change.ts';
import type { PlanEvent } from '../../src/model/plan/event.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import type { Work } from '../../src/model/plan/work.ts';
import { member } from '../playbooks/simulator.ts';
import { boardWith, endedAs, stateOf } from './support.ts';

const AT = { seq: 5, at: 9_000 };
const BOB = member('bob', 'builder');
const CHIEF = member('chief', 'main');
const ROSTER = [BOB, member('rex', 'reviewer'), CHIEF];

function view(id: string, more: Partial<MailView> = {}): MailView {
  return {
    ...{ id, from: 'bob', to: ['MAIN'], type: 'ask', action: 'clarify', via: 'a', body: {}, at: 1_000, owes: ['MAIN'] },
    ...more,
  };
}

/** bob’s turn of `a` has asked MAIN something (7), and waits for the answer. */
function blocked(id = 'a', question = 'mail/7'): TaskState {
  return stateOf(id, {}, { author: { ...newWork().author, state: { at: 'blocked', question } } });
}

interface About {
  readonly mail?: readonly MailView[];
  readonly states?: readonly TaskState[];
  readonly questions?: readonly Question[];
  readonly roster?: Member[];
  readonly facts?: Partial<RunFacts>;
}

function draft({
  mail = [view('s-7')],
  states = [blocked()],
  questions = [],
  roster = ROSTER,
  facts,
}: About = {}): Draft {
  const board = boardWith(states, facts, roster);
  return draftOf(
    {
      ...board,
      mail: new Map(mail.map((one) => [one.id, one])),
      questions: new Map(questions.map((one) => [one.id, one])),
    },
    AT,
  );
}

const owes = (of: Draft, id = 's-7') => of.mail.get(id)?.owes;
const stateAt = (of: Draft, id = 'a') => of.tasks.get(id)?.work.author.state.at;
const sent = (of: Draft) => of.effects.flatMap((one) => (one.effect === 'send' ? [one.message] : []));

describe('an answer that is owed', () => {
  it.each<[string, About, string, string[] | undefined, string]>([
    ['by its address', {}, 'MAIN', [], 'queued'],
    ['by a role, and comes from its agent', { mail: [view('s-7', { owes: ['reviewer'] })] }, 'rex', [], 'queued'],
    ['by two, and comes from one', { mail: [view('s-7', { owes: ['rex', 'MAIN'] })] }, 'MAIN', ['rex'], 'blocked'],
    ['by somebody else', { mail: [view('s-7', { owes: ['rex'] })] }, 'MAIN', ['rex'], 'blocked'],
    ['to a question that is not known', { mail: [] }, 'MAIN', undefined, 'blocked'],
    ['by somebody who is not in the team', {}, 'zed', ['MAIN'], 'blocked'],
    ['to a task’s question', { mail: [view('s-7', { via: undefined, task: 'a' } as never)] }, 'MAIN', [], 'queued'],
    ['while its turn is at work', { states: [stateOf('a')] }, 'MAIN', [], 'queued'],
    ['while its task waits for something else', { states: [blocked('a', 'engine/setup')] }, 'MAIN', [], 'blocked'],
    ['to somebody without a task', { mail: [view('s-7', { via: undefined } as never)] }, 'MAIN', [], 'blocked'],
    ['to a task that is gone', { mail: [view('s-7', { via: 'zed' })] }, 'MAIN', [], 'blocked'],
    ['besides another question of its turn', { mail: [view('s-7'), view('s-9')] }, 'MAIN', [], 'blocked'],
    ['besides one that is answered', { mail: [view('s-7'), view('s-9', { owes: [] })] }, 'MAIN', [], 'queued'],
    ['besides one of another turn', { mail: [view('s-7'), view('s-9', { via: 'b' })] }, 'MAIN', [], 'queued'],
    [
      'besides a review that it asked for',
      { mail: [view('s-7'), view('s-9', { action: 'review' })] },
      'MAIN',
      [],
      'queued',
    ],
  ])('%s', (_, about, by, left, state) => {
    const of = draft(about);
    closeAsk(of, 's-7', by);
    expect([owes(of), stateAt(of)]).toEqual([left, state]);
  });
});

describe('an incoming message', () => {
  type News = Extract<PlanEvent, { type: 'mail' }>;
  const news = (more: Partial<News> = {}): News => ({
    ...{
      type: 'mail',
      ...AT,
      id: 's-8',
      from: 'bob',
      to: ['MAIN'],
      kind: 'ask',
      action: 'clarify',
      via: 'a',
      body: {},
    },
    ...more,
  });
  const answer = (more: Partial<News> = {}): News => ({
    ...news({ from: 'MAIN', to: ['bob'], kind: 'send', action: 'answer', re: { id: 's-7', from: 'bob' } }),
    ...{ via: 'b', body: { answer: 'yes' } },
    ...more,
  });
  const take = (about: About, one: News): Draft => {
    const of = draft(about);
    acceptMail(of, one, one.kind);
    return of;
  };
  const PERSON = { mail: [], roster: [BOB] };

  it('is kept as it came', () => {
    const of = take({ mail: [] }, news({ task: 't', body: { question: 'q' } }));
    expect(of.mail.get('s-8')).toStrictEqual({
      ...{ id: 's-8', from: 'bob', to: ['MAIN'], type: 'ask', action: 'clarify', task: 't', via: 'a' },
      ...{ body: { question: 'q' }, at: 9_000, owes: ['MAIN'] },
    });
    const told = take({}, answer());
    expect(told.mail.get('s-8')).toMatchObject({ re: 's-7', owes: [] });
    expect(take({ mail: [] }, answer()).mail.get('s-8')).not.toHaveProperty('re');
  });

  it.each<[string, About, News, string[] | undefined]>([
    ['its answer', {}, answer(), []],
    ['found by its key', { mail: [view('key:k')] }, answer({ re: { id: 'x', key: 'k', from: 'bob' } }), undefined],
    ['not an answer to somebody else', {}, answer({ to: ['rex'] }), ['MAIN']],
    ['not a question back', {}, answer({ kind: 'ask', action: 'clarify' }), ['MAIN']],
    [
      'not one that a turn has only promised',
      { states: [blocked(), stateOf('b')] },
      answer({ body: { doc_updated: true } }),
      ['MAIN'],
    ],
    ['one that a person sends', {}, answer({ body: { doc_updated: true }, via: undefined }), []],
  ])('closes a question: %s', (_, about, one, left) => {
    const of = take(about, one);
    expect(owes(of)).toEqual(left);
    if (left === undefined) expect(owes(of, 'key:k')).toEqual([]);
    expect(sent(of)).toEqual([]);
  });

  it('that promises a document in answer to nothing is kept, and closes nothing', () => {
    const of = take({}, answer({ re: { id: 's-1', from: 'bob' }, body: { doc_updated: true } }));
    expect([of.mail.has('s-8'), owes(of), sent(of)]).toEqual([true, ['MAIN'], []]);
  });

  it.each<[string, TaskState[]]>([
    ['its task has ended', [blocked(), stateOf('b', {}, endedAs('failed'))]],
    ['its task only reads', [blocked(), stateOf('b', { workspace: { read: 'run' } })]],
    ['its task is gone', [blocked()]],
  ])('closes a question at once by a promise where nothing is written any more: %s', (_, states) => {
    const of = take({ states }, answer({ body: { doc_updated: true, answer: 'see' } }));
    expect([owes(of), sent(of)[0]?.body]).toEqual([[], { answer: 'see', reason: expect.any(String) as string }]);
  });

  it.each<[string, About, News, string | undefined]>([
    [
      'all that it says',
      PERSON,
      news({ body: { question: 'q?', context: 'c', code_path: 'p' } }),
      'bob asks: q? · c · p',
    ],
    [
      'nothing that is empty',
      PERSON,
      news({ body: { question: 'q?', context: '', code_path: '-', more: 1 } }),
      'bob asks: q?',
    ],
    ['no number', PERSON, news({ body: { question: 'q?', context: 5 } }), 'bob asks: q?'],
    ['where it says so', PERSON, news({ body: 'words' }), 'bob asks: see its message'],
    [
      'where it may write',
      { ...PERSON, states: [limited()] },
      news({ body: { question: 'q?' } }),
      'bob asks: q? · it may change only src, docs; --paths adds to that',
    ],
    ['in Chinese', { ...PERSON, facts: { locale: 'zh' } }, news({ body: { question: 'q?' } }), 'bob 提问：q?'],
    ['in Chinese, without words', { ...PERSON, facts: { locale: 'zh' } }, news({ body: 'x' }), 'bob 提问：见其消息'],
    [
      'in Chinese, where it may write',
      { ...PERSON, facts: { locale: 'zh' }, states: [limited()] },
      news({ body: { question: 'q?' } }),
      'bob 提问：q? · 它只能修改 src, docs；--paths 可增加路径',
    ],
    ['nothing where an agent is MAIN', { mail: [] }, news(), undefined],
    ['nothing to somebody else', PERSON, news({ to: ['rex'] }), undefined],
    ['nothing of a review', PERSON, news({ action: 'review' }), undefined],
  ])('is asked of a person: %s', (_, about, one, text) => {
    const of = take(about, one);
    expect([...of.questions.values()]).toEqual(
      text === undefined ? [] : [{ id: 'mail/8', text, options: [], blocks: ['a'], by: 'mail', answer: null }],
    );
  });

  it('is asked of a person once, and blocks nothing where no turn sent it', () => {
    const asked: Question = { id: 'mail/8', text: 'old', options: [], blocks: [], by: 'mail', answer: null };
    expect(take({ ...PERSON, questions: [asked] }, news()).questions.get('mail/8')).toBe(asked);
    const own = news();
    const { via: _, ...without } = own;
    expect(take(PERSON, without).questions.get('mail/8')?.blocks).toEqual([]);
  });

  it.each<[string, Partial<Question>, News, string | null]>([
    ['by its words', {}, answer({ body: { answer: 'the first' } }), 'the first'],
    ['by all that it says', {}, answer({ body: { answer: 5 } }), '{"answer":5}'],
    ['by no more than has room', {}, answer({ body: 'x'.repeat(3_000) }), `"${'x'.repeat(1_999)}`],
    ['not twice', { answer: 'old' }, answer(), 'old'],
    ['not by another agent', {}, answer({ from: 'rex' }), null],
    ['not a question of the engine', { by: 'engine' }, answer(), null],
  ])('answers the question to a person: %s', (_, more, one, expected) => {
    const asked: Question = {
      ...{ id: 'mail/7', text: 't', options: [], blocks: [], by: 'mail', answer: null },
      ...more,
    };
    expect(take({ questions: [asked] }, one).questions.get('mail/7')?.answer).toBe(expected);
  });
});

function limited(): TaskState {
  return stateOf('a', { requires: [{ kind: 'only', paths: ['src', 'docs'], instead: 'Ask.' }] });
}

describe('what a playbook sends', () => {
  type Send = Extract<PlanChange, { do: 'send' }>;
  const send = (more: Partial<Send> = {}): Send => ({
    ...{ do: 'send', to: ['bob'], type: 'send', action: 'answer', key: 'k', body: { n: 1 } },
    ...more,
  });
  const note = (one: Send, about: About = {}): Draft => {
    const of = draft(about);
    noteSent(of, one);
    return of;
  };

  it('is MAIN’s unless it says otherwise, and is known by its key', () => {
    expect(note(send({ task: 't' })).mail.get('key:k')).toStrictEqual({
      ...{ id: 'key:k', key: 'k', from: 'MAIN', to: ['bob'], type: 'send', action: 'answer', task: 't' },
      ...{ body: { n: 1 }, at: 9_000, owes: [] },
    });
    const asks = note(send({ type: 'ask', action: 'review', from: 'rex', corr: 's-7' })).mail.get('key:k');
    expect(asks).toMatchObject({ from: 'rex', re: 's-7', owes: ['bob'] });
    const { key: _, ...without } = send();
    expect([...note(without).mail.keys()]).toEqual(['s-7']);
  });

  it('answers by id or by key', () => {
    expect(owes(note(send({ corr: 's-7' })))).toEqual([]);
    expect(owes(note(send({ corrKey: 'q' }), { mail: [view('key:q')] }), 'key:q')).toEqual([]);
    expect(owes(note(send({ corr: 's-7', type: 'ask', action: 'review' })))).toEqual(['MAIN']);
    expect(owes(note(send()))).toEqual(['MAIN']);
  });
});

describe('a person’s answer', () => {
  type Answer = Extract<PlanEvent, { type: 'answer' }>;
  const given = (more: Partial<Answer> = {}): Answer => ({
    ...{ type: 'answer', ...AT, question: 'mail/7', answer: 'yes', by: 'ada' },
    ...more,
  });
  const QUESTION: Question = { id: 'mail/7', text: 't', options: [], blocks: [], by: 'mail', answer: null };
  const answers = (about: About, one = given()): Draft => {
    const of = draft(about);
    answerByPerson(of, QUESTION, one);
    return of;
  };
  const message = {
    ...{ do: 'send', from: 'MAIN', to: ['bob'], type: 'send', action: 'answer', corr: 's-7', key: 'answer-s-7-MAIN' },
    body: { answer: 'yes', reason: 'a person answered (ada)' },
  };

  it('is sent as MAIN’s, and its task goes on', () => {
    const of = answers({ mail: [view('s-7', { task: 't' })] });
    expect(sent(of)).toStrictEqual([{ ...message, task: 't' }]);
    expect(sent(answers({}))).toStrictEqual([message]);
    expect([owes(of), stateAt(of), of.news]).toEqual([[], 'queued', []]);
    expect(of.mail.get('key:answer-s-7-MAIN')).toMatchObject({ re: 's-7', from: 'MAIN', body: message.body });
  });

  it('with paths is news for the playbook, which decides about them', () => {
    const of = answers({ mail: [view('s-7', { task: 't' })] }, given({ paths: ['docs'] }));
    const body = { ...message.body, paths: ['docs'] };
    expect(sent(of)[0]?.body).toEqual(body);
    expect(of.news).toStrictEqual([
      {
        ...{ type: 'mail', id: 'key:answer-s-7-MAIN', from: 'MAIN', to: ['bob'], kind: 'send', action: 'answer', body },
        re: { id: 's-7', from: 'bob', action: 'clarify', task: 't' },
      },
    ]);
  });

  it.each<[string, MailView[]]>([
    ['an unknown question', []],
    ['another question', [view('s-9')]],
    ['a review', [view('s-7', { action: 'review' })]],
    ['what a playbook asked', [view('key:7', { key: '7' })]],
  ])('to %s says nothing', (_, mail) => expect(sent(answers({ mail }))).toEqual([]));
});

describe('a question of which nothing more comes', () => {
  const PROMISE = view('s-8', {
    ...{ from: 'MAIN', to: ['bob'], type: 'send', action: 'answer', re: 's-7', via: 'b', owes: [] },
    body: { answer: 'see it', doc_updated: true, doc_path: 'docs/a.md' },
  });
  const WRITTEN = { answer: 'see it', doc_updated: true, doc_path: 'docs/a.md' };
  const NOT = {
    answer: 'see it',
    reason: 'its sender says that the documentation has it, and has delivered no change of it',
  };
  const by = (id: string, more: Partial<NewTask> = {}, work: Partial<Work> = {}, ended = 2_000): TaskState => ({
    ...stateOf(id, more, {
      ...{ ...endedAs('done'), commit: 'c1' },
      author: { ...newWork().author, thread: { key: 'k', agent: 'chief' } },
      ...work,
    }),
    at: { added: 0, ended },
  });
  const reads = stateOf('b', { workspace: { read: 'run' } });
  const close = (about: About, closedBy = 'MAIN'): Draft => {
    const of = draft(about);
    closeByPlan(of, 's-7', closedBy);
    return of;
  };

  it.each<[string, TaskState[], object]>([
    ['it was delivered', [by('b')], WRITTEN],
    ['it is not delivered', [by('b', {}, endedAs('failed'))], NOT],
    ['it is still worked on', [by('b', {}, { phase: { at: 'working' } })], NOT],
    ['it came to nothing', [by('b', {}, { commit: null })], NOT],
    ['it is not for the run branch', [by('b', { integrate: false })], NOT],
    ['its own task counts alone', [by('b', {}, { commit: null }), by('c')], NOT],
    ['another task of its author, where its own only reads', [reads, by('c')], WRITTEN],
    ['not before the question', [reads, by('c', {}, {}, 999)], NOT],
    ['but at the same moment', [reads, by('c', {}, {}, 1_000)], WRITTEN],
    ['not another agent’s', [reads, by('c', {}, { author: newWork().author })], NOT],
    ['not one that failed', [reads, by('c', {}, endedAs('failed'))], NOT],
    ['where its own task is gone', [by('c')], WRITTEN],
  ])('says of the promised document only what is true: %s', (_, states, body) => {
    const of = close({ mail: [view('s-7'), PROMISE], states: [blocked(), ...states] });
    expect(sent(of)).toStrictEqual([
      {
        do: 'send',
        from: 'MAIN',
        to: ['bob'],
        type: 'send',
        action: 'answer',
        corr: 's-7',
        key: 'answer-s-7-MAIN',
        body,
      },
    ]);
    expect([owes(of), stateAt(of)]).toEqual([[], 'queued']);
  });

  it('speaks of a path only where one was named', () => {
    const mail = [view('s-7'), { ...PROMISE, body: { answer: 'a', doc_updated: true } }];
    expect(sent(close({ mail, states: [blocked(), by('b')] }))[0]?.body).toStrictEqual({
      answer: 'a',
      doc_updated: true,
    });
  });

  it('is closed for a role by its agent’s promise', () => {
    const mail = [view('s-7', { owes: ['main'] }), PROMISE];
    expect(sent(close({ mail, states: [blocked(), by('b')] }, 'main'))).toHaveLength(1);
    expect(
      sent(close({ mail: [view('s-7', { owes: ['main'] }), PROMISE], states: [blocked(), by('b')] })),
    ).toHaveLength(1);
  });

  it('says what was promised last', () => {
    const mail = [view('s-7'), PROMISE, { ...PROMISE, id: 's-9', body: { answer: 'later', doc_updated: true } }];
    expect(sent(close({ mail, states: [blocked(), by('b')] }))[0]?.body).toMatchObject({ answer: 'later' });
  });

  it.each<[string, MailView[], string[] | undefined]>([
    ['nothing was promised', [view('s-7')], []],
    ['it was promised in another answer', [view('s-7'), { ...PROMISE, re: 's-1' }], []],
    ['it was promised by somebody else', [view('s-7'), { ...PROMISE, from: 'rex' }], []],
    ['no turn promised it', [view('s-7'), { ...PROMISE, via: undefined } as unknown as MailView], []],
    ['its answer speaks of no document', [view('s-7'), { ...PROMISE, body: { answer: 'x' } }], []],
    ['it is answered already', [view('s-7', { owes: ['rex'] }), PROMISE], ['rex']],
    ['there is none', [PROMISE], undefined],
  ])('is closed without a word where %s', (_, mail, left) => {
    const of = close({ mail, states: [blocked(), by('b')] });
    expect([sent(of), owes(of)]).toEqual([[], left]);
  });
});
