import { expect, test } from 'vitest';
import type { MailAction } from '../../../../src/model/mail/kind.ts';
import {
  atAnswerDue,
  backoffMs,
  dueOnAccept,
  dueOnSend,
  isOnline,
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
  for (;;) {
    const next = nextTry(now);
    steps.push(next.step);
    if (next.step === 'give-up') break;
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

test('the time of a question to a person begins when it is sent: it may never be read', () => {
  const ask = { ts: 100, deadline: null, reviewDeadline: null, toPerson: true } as const;
  expect(dueOnSend({ ...ask, action: 'clarify' })).toBe(100 + 30 * MINUTE);
  expect(dueOnSend({ ...ask, action: 'verify' })).toBeNull();
});
