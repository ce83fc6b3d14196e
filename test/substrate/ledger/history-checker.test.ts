import { expect, test } from 'vitest';
import type { Json } from '../../../src/model/json.ts';
import type { LedgerEvent } from '../../../src/model/ledger-event.ts';
import {
  checkHistory,
  HISTORY_RULES,
  type LedgerHistory,
  type Violation,
} from '../../../src/testing/history-checker.ts';

type Mutable<T> = {
  -readonly [K in keyof T]: T[K] extends readonly (infer I)[] ? { -readonly [P in keyof I]: I[P] }[] : T[K];
};

function event(seq: number, type: string, cause: number | null, epoch: number | null, data: Json = null): LedgerEvent {
  return { seq, stream: 'r', type, at: 0, cause, epoch, data };
}

/** Two attempts of one task in one session, one after the other; the first was lost and came back late. */
function clean(): Mutable<LedgerHistory> {
  return {
    events: [
      event(1, 'run-created', null, null),
      event(2, 'lease-acquired', null, 1),
      event(3, 'attempt-claimed', 2, 1, { attemptId: 'a-1' }),
      event(4, 'first-tool', null, 1, { attemptId: 'a-1' }),
      event(5, 'attempt-settled', null, 1, { attemptId: 'a-1' }),
      event(6, 'late-result', null, 1, { attemptId: 'a-1' }),
      event(7, 'attempt-claimed', 5, 1, { attemptId: 'a-2' }),
      event(8, 'record-put', 5, 1, { kind: 'k', id: 'x', version: 1 }),
      event(9, 'operator-command', null, null),
    ],
    runs: [{ id: 'r', applied: 5, driver: 'c2' }],
    applications: [
      { runId: 'r', cursor: 0, seq: 2, driver: 'c1', epoch: 1 },
      { runId: 'r', cursor: 2, seq: 5, driver: 'c2', epoch: 1 },
    ],
    attempts: [
      {
        id: 'a-1',
        runId: 'r',
        taskId: 'a',
        number: 1,
        kind: 'turn',
        sessionKey: 's',
        claimSeq: 3,
        epoch: 1,
        status: 'settled',
      },
      {
        id: 'a-2',
        runId: 'r',
        taskId: 'a',
        number: 2,
        kind: 'turn',
        sessionKey: 's',
        claimSeq: 7,
        epoch: 1,
        status: 'spawned',
      },
    ],
    settlements: [{ attemptId: 'a-1', seq: 5, epoch: 1, digest: 'x' }],
    usage: [{ attemptId: 'a-1', tokens: 10, costUsd: 1 }],
    lateResults: [{ attemptId: 'a-1', seq: 6, digest: 'y' }],
    observations: [{ attemptId: 'a-1', type: 'first-tool', seq: 4 }],
    messages: [{ id: 'm', runId: 'r', attemptId: 'a-1', seq: 5 }],
    commands: [{ id: 1, runId: 'r', seq: 9 }],
    records: [{ kind: 'k', id: 'x', version: 1, value: null }],
    limits: { r: { turns: 2, tokens: 11, usd: 1.5, retries: 1 } },
  };
}

type Break = (history: Mutable<LedgerHistory>) => unknown;

const BREAKS: [Violation['rule'], string, Break][] = [
  ['seq-gap', 'an event is gone', (h) => h.events.splice(3, 1)],
  ['cause-wrong', 'the cause is missing', (h) => h.events.push(event(10, 'x', 99, 1))],
  ['cause-wrong', 'the cause comes later', (h) => (h.events[2]!.cause = 5)],
  ['cause-wrong', 'the cause is a decision', (h) => (h.events[6]!.cause = 3)],
  ['cause-wrong', 'the cause is of another run', (h) => (h.events[1]!.stream = 'q')],
  ['epoch-backwards', 'an old engine wrote', (h) => (h.events[3]!.epoch = 2)],
  ['row-without-event', 'a claim without its event', (h) => (h.events[2]!.type = 'poke')],
  ['row-without-event', 'a settlement whose event tells of another', (h) => (h.events[4]!.data = { attemptId: 'z' })],
  ['row-without-event', 'a command without its event', (h) => (h.commands[0]!.seq = 1)],
  ['settled-not-once', 'settled without a settlement', (h) => (h.attempts[1]!.status = 'settled')],
  ['settled-not-once', 'a settlement of a live attempt', (h) => (h.attempts[0]!.status = 'spawned')],
  ['settled-not-once', 'two settlements', (h) => h.settlements.push(h.settlements[0]!)],
  ['settled-before-claim', 'the end before the start', (h) => (h.attempts[0]!.claimSeq = 6)],
  ['settled-before-claim', 'the end of nothing', (h) => (h.settlements[0]!.attemptId = 'z')],
  ['session-overlap', 'a claim while the other lived', (h) => (h.attempts[1]!.claimSeq = 4)],
  ['session-overlap', 'the other never ended', (h) => h.settlements.pop()],
  ['attempt-numbers', 'a number is left out', (h) => (h.attempts[1]!.number = 3)],
  ['attempt-numbers', 'a number comes twice', (h) => (h.attempts[1]!.number = 1)],
  [
    'applied-twice',
    'two drivers left one cursor',
    (h) => h.applications.splice(1, 0, { ...h.applications[0]!, driver: 'c9' }),
  ],
  [
    'applied-twice',
    'more was decided on one input twice',
    (h) => {
      const again = { runId: 'r', cursor: 5, seq: 5, driver: 'c3', epoch: 1 };
      h.applications.push(again, { ...again, driver: 'c4' });
    },
  ],
  ['applied-twice', 'the cursor is not where the steps end', (h) => (h.runs[0]!.applied = 9)],
  ['applied-twice', 'a decision outside of any step', (h) => h.events.push(event(10, 'x', 9, 1))],
  ['applied-twice', 'a decision of another epoch', (h) => (h.applications[0]!.epoch = 2)],
  ['cap-exceeded', 'turns', (h) => (h.limits = { r: { turns: 1 } })],
  ['cap-exceeded', 'tokens', (h) => (h.limits = { r: { tokens: 10 } })],
  ['cap-exceeded', 'usd', (h) => (h.limits = { r: { usd: 1 } })],
  ['cap-exceeded', 'retries', (h) => (h.limits = { r: { retries: 0 } })],
  [
    'usage-without-settlement',
    'use of a live attempt',
    (h) => h.usage.push({ attemptId: 'a-2', tokens: null, costUsd: null }),
  ],
  ['usage-without-settlement', 'a settlement without use', (h) => h.usage.pop()],
  ['late-applied', 'the late result is the one that counts', (h) => (h.lateResults[0]!.digest = 'x')],
  ['late-applied', 'late before the end', (h) => (h.lateResults[0]!.seq = 4)],
  ['late-applied', 'recorded twice', (h) => h.lateResults.push({ ...h.lateResults[0]! })],
  ['observed-twice', 'a fact told twice', (h) => h.events.push(event(10, 'first-tool', null, 1, { attemptId: 'a-1' }))],
  ['message-wrong', 'a message apart from its settlement', (h) => (h.messages[0]!.seq = 6)],
  ['message-wrong', 'a message twice', (h) => h.messages.push({ ...h.messages[0]! })],
  ['record-version', 'a version is left out', (h) => (h.records[0]!.version = 2)],
  [
    'record-version',
    'an event with the wrong version',
    (h) => (h.events[7]!.data = { kind: 'k', id: 'x', version: 4 }),
  ],
];

test('a clean history has no violations', () => {
  expect(checkHistory(clean())).toEqual([]);
});

test.each(BREAKS)('%s: %s', (rule, _, damage) => {
  const history = clean();
  damage(history);
  expect(checkHistory(history).map((found) => found.rule)).toContain(rule);
});

test('every rule has a history that breaks it', () => {
  expect(new Set(BREAKS.map(([rule]) => rule))).toEqual(new Set(HISTORY_RULES));
});
