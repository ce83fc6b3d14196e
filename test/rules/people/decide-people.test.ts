import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/model/people/message.ts';
import { readPeople } from '../../../src/model/people/people.ts';
import { PEOPLE_KINDS } from '../../../src/model/people/kinds.ts';
import {
  mayUse,
  needsYes,
  RIGHTS,
  VERBS,
  type Intent,
  type Right,
  type Verb,
} from '../../../src/model/people/verbs.ts';
import { decidePeople, verbsFor, type PeopleDecision } from '../../../src/rules/people/decide-people.ts';
import type { RunState } from '../../../src/rules/sprint/decide-team.ts';

const HOUR = 3_600_000;
const NOW = 100 * HOUR;

type Rows = Partial<Record<keyof typeof PEOPLE_KINDS, Record<string, unknown>>>;

function message(text: string, more: Partial<Message> = {}): Message {
  return {
    channel: 'team',
    sender: 'ann',
    name: 'Ann',
    place: 'hall',
    text,
    attachments: [],
    at: NOW - 1_000,
    ...more,
  };
}

function decide(rows: Rows, { rights = { ann: [...RIGHTS] }, states = {}, cappedUntil }: Given = {}): PeopleDecision {
  const people = readPeople((kind) => {
    const name = (Object.keys(PEOPLE_KINDS) as (keyof typeof PEOPLE_KINDS)[]).find((one) => PEOPLE_KINDS[one] === kind);
    return Object.entries((name === undefined ? undefined : rows[name]) ?? {}).map(([id, value]) => ({ id, value }));
  });
  return decidePeople({
    ...{ now: NOW, people, cappedUntil, rightsOf: ({ sender }) => rights[sender] },
    runState: (run) => states[run] ?? 'absent',
  });
}

interface Given {
  readonly rights?: Readonly<Record<string, readonly Right[]>>;
  readonly states?: Readonly<Record<string, RunState>>;
  readonly cappedUntil?: number;
}

const INTENTS: Readonly<Record<Verb, Intent>> = {
  request: { verb: 'request', text: 'x' },
  status: { verb: 'status' },
  cancel: { verb: 'cancel', request: 'r-1' },
  'sprint-start': { verb: 'sprint-start', milestone: 'x' },
  'sprint-stop': { verb: 'sprint-stop', now: true },
  'sprint-status': { verb: 'sprint-status' },
  action: { verb: 'action', name: 'deploy', args: [] },
  answer: { verb: 'answer', text: 'x' },
  none: { verb: 'none', reply: 'hello' },
};
const EXACT: Readonly<Record<Exclude<Verb, 'none'>, string>> = {
  request: 'request x',
  status: 'status',
  cancel: 'cancel r-1',
  'sprint-start': 'sprint start x',
  'sprint-stop': 'sprint stop now',
  'sprint-status': 'sprint status',
  action: 'execute deploy',
  answer: 'answer: x',
};
/** Each set of rights. */
const ALL_RIGHTS = Array.from({ length: 2 ** RIGHTS.length }, (_, bits) =>
  RIGHTS.filter((_right, at) => bits & (1 << at)),
);

describe.each(VERBS)('%s', (verb) => {
  it.each(ALL_RIGHTS)('does for %j only what they allow, from a command and from free text', (...rights) => {
    const isAllowed = verb === 'none' || mayUse(rights, verb);
    const read = decide(
      { message: { m: message('as you like') }, reading: { m: { intent: INTENTS[verb], at: 1 } } },
      { rights: { ann: rights } },
    );
    expect(read).toMatchObject({ do: isAllowed ? (needsYes(verb) ? 'ask-yes' : 'act') : 'refuse', message: 'm' });
    expect(verbsFor(rights).includes(verb)).toBe(isAllowed);
    if (verb === 'none') return;
    const exact = decide({ message: { m: message(EXACT[verb]) } }, { rights: { ann: rights } });
    expect(exact).toMatchObject(isAllowed ? { do: 'act', intent: INTENTS[verb] } : { do: 'refuse' });
  });
});

describe('a yes', () => {
  const waits = (at = NOW - 5_000) => ({ state: 'waits', at });
  const stop = { intent: INTENTS['sprint-stop'], at: 1 };
  const two = (said: Partial<Message> & { text: string }, at?: number): Rows => ({
    message: { m: message('end it'), y: message(said.text, said) },
    reading: { m: stop },
    outcome: { m: waits(at) },
  });

  it.each<[string, Rows, Partial<PeopleDecision> & { readonly do: string }]>([
    ['confirms what waits', two({ text: 'ja' }), { do: 'act', message: 'm', yes: 'y' }],
    ['or drops it', two({ text: '아니요' }), { do: 'drop', message: 'm', no: 'y' }],
    ['not after more than an hour', two({ text: 'yes' }, NOW - HOUR - 2_000), { do: 'refuse', message: 'y' }],
    ['not of another sender', two({ text: 'yes', sender: 'bob' }), { do: 'refuse', message: 'y' }],
    ['not in another place', two({ text: 'yes', place: 'cellar' }), { do: 'refuse', message: 'y' }],
    ['not in another channel', two({ text: 'yes', channel: 'web' }), { do: 'refuse', message: 'y' }],
    ['not where nothing waits', { message: { y: message('yes') } }, { do: 'refuse', message: 'y' }],
    [
      'is for the newest',
      {
        message: { m: message('end it'), n: message('end all'), y: message('yes') },
        reading: { m: stop, n: stop },
        outcome: { m: waits(), n: waits() },
      },
      { do: 'act', message: 'n', yes: 'y' },
    ],
    [
      'comes before a text that a model has read by now',
      { message: { y: message('yes'), m: message('end it') }, reading: { m: stop } },
      { do: 'refuse', message: 'y' },
    ],
  ])('%s', (_, rows, expected) => {
    expect(decide(rows, { rights: { ann: RIGHTS, bob: RIGHTS } })).toMatchObject(expected);
  });

  it('does nothing for one whose right was taken away meanwhile', () => {
    expect(decide(two({ text: 'yes' }), { rights: { ann: ['ask'] } })).toMatchObject({ do: 'refuse', message: 'y' });
  });
});

describe('what a model has to read', () => {
  const free = (count: number, more: Partial<Message> = {}, from = 0) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${from + index}`, message('hello there', more)]));

  it('is read ten messages at a time, of one sender alone', () => {
    const messages = { ...free(12), ...free(3, { sender: 'bob' }, 20) };
    const rights = { ann: RIGHTS, bob: RIGHTS };
    const first = decide({ message: messages }, { rights });
    expect(first).toEqual({ do: 'read', messages: Array.from({ length: 10 }, (_, index) => `m${index}`) });
    expect(decide({ message: free(2, { text: 'x'.repeat(60 * 1024) }) })).toEqual({ do: 'read', messages: ['m0'] });
  });

  it.each<[string, RunState, Partial<PeopleDecision> & { readonly do: string }]>([
    ['is submitted again after a kill', 'absent', { do: 'submit-read', ask: 'ask-1' }],
    ['is waited for', 'open', { do: 'wait', until: undefined }],
    ['is read once more after a run without an answer', 'over', { do: 'read', messages: ['m0'] }],
  ])('%s', (_, state, expected) => {
    const ask = { 'ask-1': { run: 'one', messages: ['m0'], at: 1 } };
    expect(decide({ message: free(1), ask }, { states: { one: state } })).toEqual(expected);
  });

  it('is refused with the commands after two runs, and holds up no exact command', () => {
    const ask = { 'ask-1': { run: 'one', messages: ['m0'], at: 1 }, 'ask-2': { run: 'two', messages: ['m0'], at: 2 } };
    const states = { one: 'over', two: 'over' } as const;
    const rights = { ann: ['ask'] } as const;
    expect(decide({ message: free(1), ask }, { states, rights })).toMatchObject({
      do: 'refuse',
      says: 'squad could not read this message, so nothing was done. You can write: `status`, `status ID`, `sprint status`.',
    });
    expect(decide({ message: { ...free(1), s: message('status') }, ask }, { states: { one: 'open' } })).toMatchObject({
      do: 'act',
      message: 's',
    });
  });

  it('waits while a cap of the day is reached, and exact commands do not', () => {
    const cappedUntil = NOW + HOUR;
    expect(decide({ message: free(1) }, { cappedUntil })).toEqual({ do: 'wait', until: cappedUntil });
    expect(decide({ message: { m: message('status') } }, { cappedUntil })).toMatchObject({ do: 'act' });
  });
});

describe('a message', () => {
  it('of one who is no sender any more is dropped without a word', () => {
    expect(decide({ message: { m: message('status') } }, { rights: {} })).toEqual({ do: 'refuse', message: 'm' });
  });

  it('that its channel has refused gets that as the answer, or none', () => {
    const refused = (text: string) => decide({ message: { m: message('status', { refused: text }) } });
    expect(refused('Too many.')).toEqual({ do: 'refuse', message: 'm', says: 'Too many.' });
    expect(refused('')).toEqual({ do: 'refuse', message: 'm', says: undefined });
  });

  it('that is settled is left alone', () => {
    const outcome = { m: { state: 'done', at: 1 } };
    expect(decide({ message: { m: message('status') }, outcome })).toEqual({ do: 'wait', until: undefined });
  });
});
