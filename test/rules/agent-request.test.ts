import { describe, expect, it } from 'vitest';
import {
  askAgain,
  newRequest,
  setStall,
  settleRequest,
  setupQuestion,
  startRequest,
  stopRequest,
  threadOf,
  type RequestRules,
} from '../../src/rules/agent-request.ts';
import type { Failure, FailureKind } from '../../src/model/failure.ts';
import type { AgentRequest, RequestState, WorkEvent } from '../../src/model/plan/work.ts';
import { liveRequest, UNUSED } from './support.ts';

type Live = Extract<RequestState, { at: 'live' }>;
type Settled = Extract<WorkEvent, { type: 'attempt-settled' }>;

const CAPS = { retries: 2, infrastructure: 5, transient: 8, repairs: 1 };
const RULES: RequestRules = {
  ...{ name: 't', caps: CAPS, stallFallbacks: ['retry', 'workspace-reset', 'fail'], now: 1_000 },
  ...{ isOpen: () => false, check: () => undefined },
};
const DONE: Settled = { type: 'attempt-settled', attempt: 't-1', outcome: 'completed', text: '' };
const REQUEST = liveRequest('t-1');
const FEEDBACK = { why: 'feedback', from: 'review', text: 'bad' } as const;

function failure(kind: FailureKind, mayHaveActed = true, more: Partial<Failure> = {}): Partial<Settled> {
  return { outcome: 'failed', failure: { kind, message: 'it broke', mayHaveActed, ...more } };
}

function settle(
  event: Partial<Settled>,
  request: Partial<AgentRequest> = {},
  rules: Partial<RequestRules> = {},
  live: Partial<Live> = {},
) {
  const state = { ...(REQUEST.state as Live), ...live };
  return settleRequest({ ...REQUEST, ...request, state }, state, { ...DONE, ...event }, { ...RULES, ...rules });
}

describe('a request', () => {
  it('begins in the same session, with nothing used', () => {
    const thread = { key: 's', agent: 'bob' };
    expect(newRequest({ why: 'start' }, thread)).toEqual({
      ...{ state: { at: 'queued' }, prompt: { why: 'start' }, session: 'same', reset: false, thread, used: UNUSED },
    });
    expect(newRequest({ why: 'start' }).thread).toBeNull();
  });

  it('is asked again with repairs of its own, and what it saw is old', () => {
    const used = { ...UNUSED, repairs: 1, retries: 2 };
    const again = askAgain({ ...REQUEST, used, look: 'some' }, FEEDBACK);
    expect(again).toMatchObject({ state: { at: 'queued' }, prompt: FEEDBACK, used: { repairs: 0, retries: 2 } });
    expect('look' in again).toBe(false);
  });

  const started = {
    type: 'attempt-started',
    attempt: 't-2',
    agent: 'bob',
    account: 'b',
    session: 's',
    review: null,
  } as const;
  it('starts', () => {
    const request = startRequest({ ...newRequest({ why: 'start' }), session: 'new' }, started);
    expect(request).toEqual({
      ...newRequest({ why: 'start' }),
      session: 'same',
      thread: { key: 's', agent: 'bob' },
      state: { at: 'live', attempt: 't-2', agent: 'bob', account: 'b', session: 's', stop: null, stall: null },
    });
    const instead = startRequest(request, { ...started, insteadOf: 'a' });
    expect(instead.state).toMatchObject({ insteadOf: 'a' });
    expect([threadOf(started), threadOf({ ...started, insteadOf: 'a' })]).toStrictEqual([
      { key: 's', agent: 'bob' },
      { key: 's', agent: 'bob', on: 'b' },
    ]);
  });

  it.each([
    ['s', 'some'],
    ['other', undefined],
  ])('knows what it saw in the session %s', (key, look) => {
    const request = { ...newRequest({ why: 'start' }, { key, agent: 'bob' }), look: 'some' } as const;
    expect(startRequest(request, started).look).toBe(look);
  });

  it('has stalled, and counts it', () => {
    const live = REQUEST.state as Live;
    expect(setStall(REQUEST, live, 'silent')).toMatchObject({ state: { stall: 'silent' }, used: { stalls: 1 } });
    expect(setStall(REQUEST, { ...live, stall: 'silent' }, null)).toMatchObject({
      state: { stall: null },
      used: { stalls: 0 },
    });
  });

  it('is stopped once', () => {
    const live = REQUEST.state as Live;
    expect(stopRequest(REQUEST, live, 'fail').state).toMatchObject({ stop: 'fail' });
    const stopped = { ...live, stop: 'retry' } as const;
    expect(stopRequest({ ...REQUEST, state: stopped }, stopped, 'fail').state).toMatchObject({ stop: 'retry' });
  });
});

describe('a turn that completed', () => {
  it('answers the request, and its waits are over', () => {
    const used = { ...UNUSED, infrastructure: 1, transient: 2, waits: 3, retries: 1, stalls: 1 };
    const step = settle({ output: { a: 1 } }, { used, reset: true });
    expect(step).toMatchObject({ output: { a: 1 }, effects: [], request: { state: { at: 'answered' }, reset: false } });
    expect(step.request.used).toEqual({ ...UNUSED, retries: 1, stalls: 1 });
    expect('output' in settle({})).toBe(false);
  });

  it.each([
    [undefined, undefined, undefined],
    ['none', undefined, 'none'],
    [undefined, 'some', 'some'],
    ['none', 'some', 'some'],
  ] as const)('has looked, after %s and %s', (before, turn, look) => {
    const seen: unknown[] = [];
    const check: RequestRules['check'] = (output, of) => void seen.push([output, of]);
    const { request } = settle({ output: 1, ...(turn && { look: turn }) }, before && { look: before }, { check });
    expect([request.look, 'look' in request, seen]).toEqual([look, look !== undefined, [[1, look]]]);
  });

  it('with an answer of the wrong form is asked for another', () => {
    const check = () => 'no';
    const { request } = settle({}, {}, { check });
    expect(request).toMatchObject({
      state: { at: 'queued' },
      prompt: { why: 'repair', text: 'no' },
      used: { repairs: 1 },
    });
    const spent = settle({}, { used: { ...UNUSED, repairs: 1 } }, { check });
    expect(spent.request.state).toEqual({ at: 'failed', cause: 'bad-output', why: 'bad-output: no' });
  });

  it.each([
    [
      'waits for the first answer that is open',
      ['q1', 'q2', 'q3'],
      (id: string) => id !== 'q1',
      { at: 'blocked', question: 'mail/q2' },
    ],
    ['goes on at once, if all answers are there', ['q1'], () => false, { at: 'queued' }],
  ] as const)('with a question %s', (_name, awaits, isOpen, state) => {
    const check = () => 'not looked at';
    const { request, effects } = settle({ awaits: [...awaits] }, { reset: true }, { isOpen, check });
    expect(request).toMatchObject({ state, prompt: { why: 'answered' }, reset: false, used: { asks: 1 } });
    expect(effects).toEqual([]);
  });

  it('with a question keeps its feedback', () => {
    expect(settle({ awaits: ['q'] }, { prompt: FEEDBACK }).request.prompt).toEqual(FEEDBACK);
  });

  it.each([
    [9, 'queued'],
    [10, 'answered'],
  ])('after %d questions is %s', (asks, at) => {
    expect(settle({ awaits: ['q'] }, { used: { ...UNUSED, asks } }).request.state.at).toBe(at);
  });
});

describe('a turn that failed', () => {
  it.each<[string, Partial<Settled>, Partial<AgentRequest>, object]>([
    [
      'without a reason is of the protocol',
      { outcome: 'failed' },
      {},
      { prompt: { why: 'continue', text: 'the turn ended without a reason' } },
    ],
    ['before it acted is done again', failure('network', false), {}, { prompt: { why: 'start' } }],
    ['after it may have acted continues', failure('network'), {}, { prompt: { why: 'continue', text: 'it broke' } }],
    ['keeps its feedback', failure('network'), { prompt: FEEDBACK }, { prompt: FEEDBACK }],
    [
      'keeps what it was to repair',
      failure('network'),
      { prompt: { why: 'repair', text: 'x' } },
      { prompt: { why: 'repair', text: 'x' } },
    ],
    ['counts', failure('network'), {}, { used: { ...UNUSED, transient: 1 } }],
    ['keeps its reset, if it did nothing', failure('network', false), { reset: true }, { reset: true }],
    ['loses its reset, if it may have acted', failure('network'), { reset: true }, { reset: false }],
    ['stays with a new session', failure('network'), { session: 'new' }, { session: 'new' }],
    ['stays with its session', failure('network'), {}, { session: 'same' }],
    ['needs another session, if its own is lost', failure('session-not-found'), {}, { session: 'new' }],
    [
      'waits for its account',
      failure('rate-limited'),
      {},
      { state: { at: 'queued' }, used: { waits: 1 }, prompt: { why: 'continue' } },
    ],
    [
      'waits for its account with the same words, if it did nothing',
      failure('rate-limited', false),
      {},
      { prompt: { why: 'start' } },
    ],
    ['is locked out', failure('auth'), {}, { state: { at: 'queued' }, used: UNUSED, prompt: { why: 'continue' } }],
    ['is locked out with the same words, if it did nothing', failure('auth', false), {}, { prompt: { why: 'start' } }],
    [
      'of the setup waits for a person',
      failure('setup-failed'),
      {},
      { state: { at: 'blocked', question: 'engine/setup-failed' }, prompt: { why: 'start' } },
    ],
  ])('%s', (_name, event, request, expected) => {
    expect(settle(event, request).request).toMatchObject(expected);
  });

  it('has effects', () => {
    expect(settle(failure('auth')).effects).toEqual([
      { effect: 'lock-out', account: 'bob', agent: 'bob', kind: 'auth', why: 'it broke' },
    ]);
    expect(settle(failure('rate-limited', true, { retryAt: 9_000 })).effects).toEqual([
      { effect: 'limit-account', account: 'bob', until: 9_000 },
    ]);
    expect(settle(failure('setup-failed')).effects).toEqual([
      { effect: 'ask', id: 'engine/setup-failed', text: setupQuestion('it broke'), options: ['try again', 'give up'] },
    ]);
    const { request, effects } = settle(failure('network'));
    const { state } = request;
    expect(state.at).toBe('waiting');
    expect(effects).toEqual([
      { effect: 'set-timer', id: 'engine/retry/t', at: state.at === 'waiting' ? state.until : 0 },
    ]);
  });

  it('waits for no one, if it may be tried at once', () => {
    const step = settle(failure('session-not-found'));
    expect([step.request.state, step.effects]).toEqual([{ at: 'queued' }, []]);
  });

  it('fails the request once its tries are used up', () => {
    const { request, effects } = settle(failure('output-truncated'), { used: { ...UNUSED, retries: 2 } });
    expect(request.state).toEqual({ at: 'failed', cause: 'attempts', why: 'output-truncated: it broke' });
    expect(effects).toEqual([]);
  });

  it('asks in words that end once', () => {
    expect(setupQuestion('npm ci fails\n\n')).toBe(
      'npm ci fails\nIf you change a command in squad.yaml, run `squad resume --reload`.',
    );
  });
});

describe('a turn that was stopped, or was silent', () => {
  const CANCELLED = failure('cancelled');
  it.each<[string, Partial<Settled>, Partial<AgentRequest>, Partial<Live>, object]>([
    [
      'is skipped',
      CANCELLED,
      {},
      { stop: 'skip', stall: 'silent' },
      { way: 'skip', request: { state: { at: 'failed', cause: 'attempts', why: 'stalled: silent' } } },
    ],
    [
      'fails',
      CANCELLED,
      {},
      { stop: 'fail', stall: null },
      { way: 'fail', request: { state: { why: 'stalled: it broke' } } },
    ],
    [
      'fails for its own reason, if it had one',
      failure('crashed'),
      {},
      { stop: 'fail', stall: 'silent' },
      { way: 'fail', request: { state: { why: 'crashed: it broke' } } },
    ],
    [
      'begins anew',
      CANCELLED,
      { prompt: { why: 'continue', text: 'x' } },
      { stop: 'workspace-reset' },
      { request: { session: 'new', reset: true, prompt: { why: 'start' } } },
    ],
    [
      'begins anew with its feedback',
      CANCELLED,
      { prompt: FEEDBACK },
      { stop: 'workspace-reset' },
      { request: { session: 'new', reset: true, prompt: FEEDBACK } },
    ],
    [
      'is tried again',
      CANCELLED,
      {},
      { stop: 'retry' },
      { request: { session: 'same', reset: false, prompt: { why: 'continue' } } },
    ],
    ['was silent for the first time', failure('stalled'), {}, {}, { request: { reset: false, used: { stalls: 1 } } }],
    [
      'was silent for the second time',
      failure('stalled'),
      { used: { ...UNUSED, stalls: 1 } },
      {},
      { request: { reset: true, session: 'new', used: { stalls: 2 } } },
    ],
    [
      'was silent for the third time',
      failure('stalled'),
      { used: { ...UNUSED, stalls: 2 } },
      {},
      { way: 'fail', request: { state: { at: 'failed' } } },
    ],
    [
      'was stopped, which counts no stall again',
      failure('stalled'),
      {},
      { stop: 'retry' },
      { request: { used: { stalls: 0 } } },
    ],
  ])('%s', (_name, event, request, live, expected) => {
    expect(settle(event, request, {}, live)).toMatchObject(expected);
  });

  it('resets nothing, if no try is left', () => {
    const spent = { used: { ...UNUSED, retries: 2 }, prompt: { why: 'continue', text: 'x' } } as const;
    const { request } = settle(failure('output-truncated'), spent, {}, { stop: 'workspace-reset' });
    expect(request).toMatchObject({ state: { at: 'failed' }, session: 'same', reset: false });
  });
});
