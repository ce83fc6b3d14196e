import { expect, test } from 'vitest';
import type { Json } from '../../../src/text/json.ts';
import type { LedgerEvent } from '../../../src/model/ledger-event.ts';
import { applicationOrder, foldRun } from './fold.ts';

function event(seq: number, type: string, cause: number | null, data: Json = null): LedgerEvent {
  return { seq, stream: 'r', type, at: seq * 10, cause, epoch: 1, data };
}

const claimed = (attemptId: string, number: number, kind = 'turn'): Json => ({
  attemptId,
  taskId: 'a',
  number,
  kind,
  agent: 'b',
  runtime: 's',
  sessionKey: null,
});
const settled = (attemptId: string, usage: Json, failure: string | null = null): Json => ({
  attemptId,
  kind: 'turn',
  outcome: failure === null ? 'completed' : 'failed',
  failure,
  usage,
});

test.each([
  ['nothing applied', 0, []],
  ['the first input and its decisions', 1, [1, 3, 5]],
  ['inputs in between that caused nothing', 2, [1, 3, 5, 2]],
  ['all', 6, [1, 3, 5, 2, 4, 6, 7]],
])('application order: %s', (_, applied, expected) => {
  const events = [
    event(7, 'decided', 6),
    event(1, 'input', null),
    event(2, 'input', null),
    event(3, 'decided', 1),
    event(4, 'input', null),
    event(5, 'decided', 1),
    event(6, 'input', null),
  ];
  expect(applicationOrder(events, applied).map((item) => item.seq)).toEqual(expected);
});

test('a settlement that nothing was decided on yet does not show', () => {
  const events = [
    event(1, 'poke', null),
    event(2, 'attempt-claimed', 1, claimed('a-1', 1)),
    event(3, 'attempt-spawned', null, { attemptId: 'a-1' }),
    event(4, 'attempt-settled', null, settled('a-1', { inputTokens: 5, cachedInputTokens: 1, outputTokens: 2 })),
  ];
  expect(foldRun(events, 1).totals).toMatchObject({ turnsClaimed: 1, turnsLive: 1, turnsSettled: 0 });
  expect(foldRun(events, 3).attempts.get('a-1')).toMatchObject({ spawnedAt: 30, settled: null });
  const view = foldRun(events, 4);
  expect(view.attempts.get('a-1')?.settled).toEqual({ seq: 4, at: 40, outcome: 'completed', failure: null });
  expect(view.totals).toMatchObject({ turnsLive: 0, turnsSettled: 1, inputTokens: 5, outputTokens: 2, unknownCost: 1 });
});

test.each([
  ['unknown', null, { unknownUsage: 1, unknownCost: 1, inputTokens: 0 }],
  ['without a price', { inputTokens: 1, cachedInputTokens: 0, outputTokens: 0 }, { unknownUsage: 0, unknownCost: 1 }],
  ['zero', { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, costUsd: 0 }, { unknownUsage: 0, unknownCost: 0 }],
])('use that is %s', (_, use, expected) => {
  const events = [
    event(1, 'poke', null),
    event(2, 'attempt-claimed', 1, claimed('a-1', 1)),
    event(3, 'attempt-settled', null, settled('a-1', use, 'lost')),
  ];
  expect(foldRun(events, 3).totals).toMatchObject({ ...expected, turnsLost: 1 });
});

test('a turn whose agent never ran is none', () => {
  const events = [
    event(1, 'poke', null),
    event(2, 'attempt-claimed', 1, claimed('a-1', 1)),
    event(3, 'attempt-settled', null, settled('a-1', null, 'never-started')),
  ];
  const none = { turnsClaimed: 0, turnsSettled: 0, turnsLive: 0, unknownUsage: 0, unknownCost: 0 };
  expect(foldRun(events, 3).totals).toMatchObject(none);
});

test('checks do not count, unknown events are skipped, a second settlement changes nothing', () => {
  const events = [
    event(1, 'poke', null),
    event(2, 'attempt-claimed', 1, claimed('v-1', 1, 'check')),
    event(3, 'something-new', null, { any: 'thing' }),
    event(4, 'attempt-settled', null, settled('x', null)),
  ];
  expect(foldRun(events, 4).totals).toMatchObject({ turnsClaimed: 0, turnsSettled: 0 });
});

test('a timer set anew by a decision on an input from before its firing still runs', () => {
  const timer = (dueAt: number): Json => ({ id: 't', dueAt, data: null });
  const events = [
    event(1, 'poke', null),
    event(2, 'timer-set', 1, timer(5)),
    event(3, 'poke', null),
    event(4, 'timer-fired', null, { id: 't', dueAt: 5, set: 2, data: null }),
    event(5, 'timer-set', 3, timer(9)),
  ];
  expect(foldRun(events, 4).timers.get('t')).toEqual({ dueAt: 9, set: 5, data: null });
  expect(foldRun(events.slice(0, 4), 4).timers.size).toBe(0);
  expect(foldRun([...events, event(6, 'poke', null), event(7, 'timer-cleared', 6, { id: 't' })], 6).timers.size).toBe(
    0,
  );
});
