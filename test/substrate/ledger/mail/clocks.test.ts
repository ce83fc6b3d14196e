import { expect, test } from 'vitest';
import type { MailAction } from '../../../../src/model/mail/kind.ts';
import {
  atAnswerDue,
  backoffMs,
  dueOnAccept,
  dueOnSend,
  isOnline,
  isRead,
  newReceiveClock,
  nextTry,
  receivedAt,
  stepReceiveClock,
  type ReceiveEvent,
} from '../../../../src/substrate/ledger/mail/clocks.ts';
import { MINUTE } from './support.ts';

type Happened = readonly [at: number, event: ReceiveEvent];

/** Seconds, here and below. */
function receivedAfter(events: readonly Happened[], until: number): { received: number; online: boolean } {
  const clock = events.reduce((last, [at, event]) => stepReceiveClock(last, event, at * 1000), newReceiveClock(0));
  return { received: receivedAt(clock, until * 1000) / 1000, online: isOnline(clock, until * 1000) };
}

test.each<[string, readonly Happened[], number, number, boolean]>([
  ['nobody was ever there', [], 900, 0, false],
  ['a reader was there once: a minute of it counts', [[0, 'beat']], 900, 60, false],
  ['it counts while it goes on', [[0, 'beat']], 30, 30, true],
  [
    'readers that beat on',
    [
      [0, 'beat'],
      [30, 'beat'],
      [60, 'beat'],
    ],
    90,
    90,
    true,
  ],
  [
    'what lies between two visits does not count',
    [
      [0, 'beat'],
      [600, 'beat'],
    ],
    620,
    80,
    true,
  ],
  ['the engine alone says that it is able, and dies', [[0, 'able']], 900, 0, false],
  [
    'the engine says so, and lives on',
    [
      [0, 'able'],
      [30, 'renewed'],
      [60, 'renewed'],
    ],
    100,
    0,
    true,
  ],
  ['a living engine says nothing for whom it did not call able', [[0, 'renewed']], 30, 0, false],
  [
    'it is able no more',
    [
      [0, 'able'],
      [20, 'unable'],
    ],
    50,
    0,
    false,
  ],
  [
    'its reader stays when the engine takes it away',
    [
      [0, 'able'],
      [10, 'beat'],
      [20, 'unable'],
    ],
    60,
    50,
    true,
  ],
  [
    'a machine that slept',
    [
      [0, 'able'],
      [0, 'beat'],
      [7200, 'renewed'],
    ],
    7230,
    60,
    true,
  ],
  [
    'the wall clock was put back an hour',
    [
      [3600, 'beat'],
      [10, 'beat'],
    ],
    20,
    10,
    true,
  ],
  ['and nothing counts twice until it has caught up', [[3600, 'beat']], 3000, 0, true],
])('the clock of a recipient: %s', (_, events, until, received, online) => {
  expect(receivedAfter(events, until)).toEqual({ received, online });
});

test('tries: five retries, each with a time of its own, then no more', () => {
  const steps: unknown[] = [];
  let now = { id: 'm', phase: 'ack' as 'ack' | 'backoff', retries: 0 };
  // More than there are, so that a mistake does not go on for ever.
  for (let count = 0; count < 20; count += 1) {
    const next = nextTry(now);
    steps.push(next.step);
    if (next.step === 'give-up') {
      expect(next).toEqual({ step: 'give-up' });
      break;
    }
    now = next.step === 'wait' ? { ...now, phase: 'backoff' } : { id: 'm', phase: 'ack', retries: next.retries };
    if (next.step === 'retry') expect(next.due).toBe(2 * MINUTE);
  }
  expect(steps).toEqual([...Array.from({ length: 5 }, () => ['wait', 'retry']).flat(), 'give-up']);
});

test.each([
  [0, 30_000],
  [1, 2 * MINUTE],
  [2, 5 * MINUTE],
  [3, 10 * MINUTE],
  [4, 10 * MINUTE],
])('the wait after try %i is within a fifth of its time, and the same whenever it is asked for', (retries, base) => {
  const waits = Array.from({ length: 200 }, (_, index) => backoffMs(`m-${index}`, retries));
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(base * 0.8);
  expect(Math.max(...waits)).toBeLessThanOrEqual(base * 1.2);
  expect(new Set(waits).size).toBeGreaterThan(100);
  expect(waits).toEqual(waits.map((_, index) => backoffMs(`m-${index}`, retries)));
});

test.each<[MailAction, number | null, number | null]>([
  ['review', 100 + 60 * MINUTE, null],
  ['assign', 900, null],
  ['verify', null, 500 + 10 * MINUTE],
  ['clarify', null, 500 + 30 * MINUTE],
])('%s: when its answer is due', (action, onSend, onAccept) => {
  expect(
    dueOnSend({ action, ts: 100, deadline: action === 'assign' ? 900 : null, reviewDeadline: null, toPerson: false }),
  ).toBe(onSend);
  expect(dueOnAccept(action, 500)).toBe(onAccept);
});

test('a review says itself by when; only a question outlives its time', () => {
  const ask = { ts: 100, deadline: null, toPerson: false } as const;
  expect(dueOnSend({ ...ask, action: 'review', reviewDeadline: 777 })).toBe(777);
  expect(atAnswerDue('clarify', 50)).toEqual({ close: false, next: 50 + 30 * MINUTE });
  for (const action of ['review', 'verify', 'assign'] as const) {
    expect(atAnswerDue(action, 50)).toEqual({ close: true, next: null });
  }
});

test('what counts until a moment does not count at it, and the end of a beat can be seen', () => {
  const clock = { able: 1, ableUntil: 50, beatUntil: 40, receivedMs: 5, countedAt: 30 } as const;
  expect([39, 40].map((now) => isRead(clock, now))).toEqual([true, false]);
  expect([49, 50].map((now) => isOnline(clock, now))).toEqual([true, false]);
  expect([20, 30, 39, 40, 60].map((now) => receivedAt(clock, now))).toEqual([5, 5, 14, 15, 15]);
  expect(stepReceiveClock(clock, 'beat', 35)).toEqual({
    ...{ able: 1, ableUntil: 50, beatUntil: 35 + MINUTE, receivedMs: 10, countedAt: 35 },
  });
  expect(stepReceiveClock(clock, 'able', 35)).toEqual({
    ...{ able: 1, ableUntil: 35 + MINUTE, beatUntil: 40, receivedMs: 10, countedAt: 35 },
  });
  expect(stepReceiveClock(clock, 'renewed', 35)).toEqual({
    ...{ able: 1, ableUntil: 35 + MINUTE, beatUntil: 40, receivedMs: 10, countedAt: 35 },
  });
  expect(stepReceiveClock({ ...clock, able: 0 }, 'renewed', 35)).toEqual({ ...clock, able: 0 });
  expect(stepReceiveClock(clock, 'unable', 35)).toEqual({
    ...{ able: 0, ableUntil: 35, beatUntil: 40, receivedMs: 10, countedAt: 35 },
  });
});

test('a message that asks for nothing is due never, and an assignment by its deadline', () => {
  const ask = { action: null, ts: 100, deadline: 900, reviewDeadline: 700, toPerson: true } as const;
  expect(dueOnSend(ask)).toBeNull();
  expect(dueOnAccept(null, 100)).toBeNull();
  expect(dueOnSend({ ...ask, action: 'answer' })).toBeNull();
  expect(atAnswerDue(null, 100)).toEqual({ close: true, next: null });
  expect(dueOnSend({ ...ask, action: 'assign' })).toBe(900);
  expect(dueOnSend({ ...ask, action: 'assign', deadline: null })).toBe(100 + 60 * MINUTE);
  expect(dueOnSend({ ...ask, action: 'review' })).toBe(700);
  // A question has neither, whatever its sender says.
  expect(dueOnSend({ ...ask, action: 'clarify' })).toBe(100 + 30 * MINUTE);
  expect(dueOnSend({ ...ask, action: 'clarify', toPerson: false })).toBeNull();
});

test.each([
  ['m', 0, 30_088],
  ['m', 1, 116_905],
  ['n', 7, 614_521],
])('the wait of message %s after try %i is %i ms', (id, retries, ms) => {
  expect(backoffMs(id, retries)).toBe(ms);
});

test('the time of a question to a person begins when it is sent: it may never be read', () => {
  const ask = { ts: 100, deadline: null, reviewDeadline: null, toPerson: true } as const;
  expect(dueOnSend({ ...ask, action: 'clarify' })).toBe(100 + 30 * MINUTE);
  expect(dueOnSend({ ...ask, action: 'verify' })).toBeNull();
});
