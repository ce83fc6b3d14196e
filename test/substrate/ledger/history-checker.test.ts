import { expect, test } from 'vitest';
import {
  brokenRules,
  HISTORY_RULES,
  type CapsOfRuns,
  type Violation,
} from '../../../src/substrate/ledger/check-database.ts';
import type { RunLimits } from '../../../src/substrate/ports/ledger.ts';
import type { Json } from '../../../src/text/json.ts';
import { bareTables } from './bare-tables.ts';

/** The rows of each table that the rules read. `lines`: what the events say of messages, put into them as the ledger does. */
interface History {
  events: {
    seq: number;
    stream: string;
    type: string;
    at: number;
    cause: number | null;
    epoch: number | null;
    data: Json;
  }[];
  runs: { id: string; name: string; applied: number; driver: string }[];
  applications: { runId: string; cursor: number; seq: number; driver: string; epoch: number }[];
  attempts: {
    id: string;
    runId: string;
    taskId: string;
    number: number;
    kind: string;
    sessionKey: string;
    claimSeq: number;
    epoch: number;
    status: string;
  }[];
  settlements: {
    attemptId: string;
    seq: number;
    epoch: number;
    outcome: string;
    failure: string | null;
    digest: string;
  }[];
  usage: { attemptId: string; inputTokens: number | null; outputTokens: number; costMicroUsd: number | null }[];
  lateResults: { attemptId: string; seq: number; digest: string }[];
  observations: { attemptId: string; type: string; seq: number }[];
  timers: { runId: string; id: string; dueAt: number; setSeq: number }[];
  commands: { id: number; runId: string; seq: number }[];
  records: { kind: string; id: string; version: number; value: string; seq: number }[];
  mail: Mail;
  limits: CapsOfRuns;
}

interface Mail {
  readonly messages: readonly {
    seq: number;
    id: string;
    runId: string;
    epoch: number;
    eventSeq: number;
    held: string | null;
    sender: string;
    recipients: string;
    ts: number;
  }[];
  readonly deliveries: readonly { mailSeq: number; recipient: string; state: string; held: number }[];
  readonly lines: readonly { event: number; mailSeq: number; recipient: string; what: string }[];
}

/** The rules, judged over tables without the constraints that would refuse such rows. */
function checkHistory({ mail, limits, ...rows }: History): Violation[] {
  const idOf = (wanted: number) => mail.messages.find(({ seq }) => seq === wanted)?.id ?? `s-1-${wanted}`;
  const delivered = mail.lines.filter(({ what }) => what === 'delivered');
  const sent = rows.events.map((one) => {
    const to = delivered.filter((line) => line.event === one.seq).map(({ recipient }) => recipient);
    return one.type === 'mail-sent' ? { ...one, data: { ...(one.data as object), to } } : one;
  });
  const others = mail.lines.filter(({ what }) => what !== 'delivered');
  const groups = Map.groupBy(others, ({ event: seq, recipient, what }) => `${seq} ${recipient} ${what}`);
  const told = [...groups.values()].flatMap((lines) =>
    lines.slice(0, 1).map(({ event: seq, recipient, what }) => {
      const ids = lines.map(({ mailSeq }) => idOf(mailSeq));
      return event(seq, `mail-${what}`, null, null, { to: recipient, ids });
    }),
  );
  const queries = bareTables({
    event: [...sent, ...told].map((one) => ({ ...one, data: JSON.stringify(one.data) })),
    run: rows.runs,
    application: rows.applications,
    attempt: rows.attempts,
    settlement: rows.settlements,
    usage: rows.usage,
    late_result: rows.lateResults,
    observation: rows.observations,
    timer: rows.timers,
    operator_command: rows.commands,
    record: rows.records,
    mail_session: [{ id: 's' }],
    mail: mail.messages,
    mail_delivery: mail.deliveries,
  });
  return brokenRules(queries, limits);
}

function event(
  seq: number,
  type: string,
  cause: number | null,
  epoch: number | null,
  data: Json = null,
  at = 0,
): History['events'][number] {
  return { seq, stream: 'r', type, at, cause, epoch, data };
}

function written(seq: number, version: number, title: string): History['events'][number] {
  const data = { kind: 'item', id: 'i', version, value: { title } };
  return { ...event(seq, 'record-written', null, null, data), stream: 'workspace' };
}

/** Two attempts of one task in one session, one after the other; the first was lost and came back late. */
function clean(): History {
  return {
    events: [
      event(1, 'run-created', null, null, { name: 'run' }),
      event(2, 'lease-acquired', null, 1),
      event(3, 'attempt-claimed', 2, 1, { attemptId: 'a-1' }),
      event(4, 'first-tool', null, 1, { attemptId: 'a-1' }),
      event(5, 'attempt-settled', null, 1, {
        attemptId: 'a-1',
        outcome: 'failed',
        failure: 'lost',
        usage: { inputTokens: 7, outputTokens: 3, costUsd: 1 },
      }),
      event(6, 'late-result', null, 1, { attemptId: 'a-1' }),
      event(7, 'attempt-claimed', 5, 1, { attemptId: 'a-2' }),
      event(8, 'decided', 5, 1),
      event(9, 'operator-command', null, null),
      event(10, 'timer-set', 5, 1, { id: 't', dueAt: 50, data: null }),
      event(11, 'timer-fired', null, 1, { id: 't', dueAt: 50, set: 10, data: null }, 60),
      event(12, 'timer-set', 5, 1, { id: 'u', dueAt: 70, data: null }),
      ...[1, 2, 3].map((seq) => event(12 + seq, 'mail-sent', null, null, { id: `s-1-${seq}`, seq })),
      written(18, 1, 'old'),
      written(19, 2, 'new'),
    ],
    mail: mailbox(),
    runs: [{ id: 'r', name: 'run', applied: 5, driver: 'c2' }],
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
    settlements: [{ attemptId: 'a-1', seq: 5, epoch: 1, outcome: 'failed', failure: 'lost', digest: 'x' }],
    usage: [{ attemptId: 'a-1', inputTokens: 7, outputTokens: 3, costMicroUsd: 1_000_000 }],
    lateResults: [{ attemptId: 'a-1', seq: 6, digest: 'y' }],
    observations: [{ attemptId: 'a-1', type: 'first-tool', seq: 4 }],
    timers: [{ runId: 'r', id: 'u', dueAt: 70, setSeq: 12 }],
    commands: [{ id: 1, runId: 'r', seq: 9 }],
    records: [{ kind: 'item', id: 'i', version: 2, value: '{"title":"new"}', seq: 19 }],
    limits: capped({ turns: 2, tokens: 11, usd: 1.5 }),
  };
}

/** Three messages: the first two are read at once, and the turn that sent the third was lost. */
function mailbox(): Mail {
  const messages = [1, 2, 3].map((seq) => ({
    seq,
    id: `s-1-${seq}`,
    runId: 'r',
    epoch: 1,
    eventSeq: 12 + seq,
    held: seq === 3 ? 'a-1' : null,
    sender: 'A',
    recipients: '["MAIN"]',
    ts: seq,
  }));
  const line = (event: number, mailSeq: number, what: string) => ({
    event,
    mailSeq,
    recipient: 'MAIN',
    what,
  });
  return {
    messages,
    deliveries: messages.map(({ seq, held }) => ({
      mailSeq: seq,
      recipient: 'MAIN',
      state: held === null ? 'accepted' : 'void',
      held: held === null ? 0 : 1,
    })),
    lines: [
      line(13, 1, 'delivered'),
      line(14, 2, 'delivered'),
      line(15, 3, 'delivered'),
      line(16, 1, 'accepted'),
      line(16, 2, 'accepted'),
      line(17, 3, 'void'),
    ],
  };
}

/** The mailbox with rows of one table changed. */
function withMail<K extends keyof Mail>(table: K, change: (rows: Mail[K]) => Mail[K]): Break {
  return (history) => {
    history.mail = { ...history.mail, [table]: change(history.mail[table]) };
  };
}

function changed<T>(rows: readonly T[], index: number, part: Partial<T>): T[] {
  return rows.map((row, at) => (at === index ? { ...row, ...part } : row));
}

function capped(limits: RunLimits, since = 0): CapsOfRuns {
  return { r: [{ since, limits }] };
}

type Break = (history: History) => unknown;

const BREAKS: [Violation['rule'], string, Break][] = [
  ['seq-gap', 'an event is gone', (h) => h.events.splice(3, 1)],
  ['cause-wrong', 'the cause is missing', (h) => h.events.push(event(13, 'x', 99, 1))],
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
  ['applied-twice', 'a decision outside of any step', (h) => h.events.push(event(13, 'x', 9, 1))],
  ['applied-twice', 'a decision of another epoch', (h) => (h.applications[0]!.epoch = 2)],
  ['cap-exceeded', 'turns', (h) => (h.limits = capped({ turns: 1 }))],
  ['cap-exceeded', 'tokens', (h) => (h.limits = capped({ tokens: 10 }))],
  ['cap-exceeded', 'usd', (h) => (h.limits = capped({ usd: 1 }))],
  [
    'usage-without-settlement',
    'use of a live attempt',
    (h) => h.usage.push({ attemptId: 'a-2', inputTokens: null, outputTokens: 0, costMicroUsd: null }),
  ],
  ['usage-without-settlement', 'a settlement without use', (h) => h.usage.pop()],
  ['late-applied', 'the late result is the one that counts', (h) => (h.lateResults[0]!.digest = 'x')],
  ['late-applied', 'late before the end', (h) => (h.lateResults[0]!.seq = 4)],
  ['late-applied', 'recorded twice', (h) => h.lateResults.push({ ...h.lateResults[0]! })],
  ['observed-twice', 'a fact told twice', (h) => h.events.push(event(13, 'first-tool', null, 1, { attemptId: 'a-1' }))],
  ['timer-wrong', 'it fired twice', (h) => h.events.push({ ...h.events[10]!, seq: 13 })],
  ['timer-wrong', 'it fired early', (h) => (h.events[9]!.data = { id: 't', dueAt: 99_999, data: null })],
  ['timer-wrong', 'it fired and was never set', (h) => (h.events[9]!.type = 'poke')],
  ['timer-wrong', 'a firing of nothing', (h) => (h.events[10]!.data = null)],
  ['timer-wrong', 'a set timer is gone', (h) => h.timers.pop()],
  [
    'timer-wrong',
    'it was cleared and is still set',
    (h) => h.events.push(event(13, 'timer-cleared', 5, 1, { id: 'u' })),
  ],
  ['timer-wrong', 'its row has another time', (h) => (h.timers[0]!.dueAt = 71)],
  ['record-differs', 'it has another value', (h) => (h.records[0]!.value = '{}')],
  ['record-differs', 'it has an old version', (h) => (h.records[0]!.version = 1)],
  ['record-differs', 'it is gone', (h) => h.records.pop()],
  ['record-differs', 'no event wrote it', (h) => h.records.push({ ...h.records[0]!, id: 'j' })],
  ['record-differs', 'a version is written twice', (h) => h.events.push(written(20, 2, 'new'))],
  ['record-differs', 'an event of a run wrote it', (h) => (h.events.at(-1)!.stream = 'r')],
  ['run-differs', 'it has another name', (h) => (h.runs[0]!.name = 'other')],
  ['run-differs', 'it is gone', (h) => h.runs.pop()],
  ['run-differs', 'it was made twice', (h) => h.events.push(event(13, 'run-created', null, null, { name: 'run' }))],
  ['settlement-differs', 'another outcome', (h) => (h.settlements[0]!.outcome = 'completed')],
  ['settlement-differs', 'another failure', (h) => (h.settlements[0]!.failure = null)],
  ['settlement-differs', 'another use', (h) => (h.usage[0]!.inputTokens = 6)],
  ['settlement-differs', 'another cost', (h) => (h.usage[0]!.costMicroUsd = null)],
  ['mail-seq-gap', 'a message is gone', withMail('messages', (rows) => rows.slice(0, 2))],
  ['mail-seq-gap', 'a number is left out', withMail('messages', (rows) => changed(rows, 2, { seq: 4 }))],
  ['mail-seq-gap', 'an id of another session', withMail('messages', (rows) => changed(rows, 0, { id: 't-1-1' }))],
  ['mail-seq-gap', 'an id of another epoch', withMail('messages', (rows) => changed(rows, 0, { epoch: 2 }))],
  ['mail-seq-gap', 'time went back', withMail('messages', (rows) => changed(rows, 1, { ts: 0 }))],
  [
    'mail-seq-gap',
    'an event that tells of another',
    withMail('messages', (rows) => changed(rows, 0, { eventSeq: 14 })),
  ],
  ['mail-seq-gap', 'an event of another run', withMail('messages', (rows) => changed(rows, 0, { runId: 'q' }))],
  ['mail-undelivered', 'a delivery is gone', withMail('deliveries', (rows) => rows.slice(1))],
  [
    'mail-undelivered',
    'it is with somebody else',
    withMail('deliveries', (rows) => changed(rows, 0, { recipient: 'B' })),
  ],
  ['mail-undelivered', 'no ack of its delivery', withMail('lines', (rows) => rows.slice(1))],
  [
    'mail-undelivered',
    'a delivery of no message',
    withMail('deliveries', (rows) => [...rows, { ...rows[0]!, mailSeq: 9 }]),
  ],
  ['mail-ack-wrong', 'accepted twice', withMail('lines', (rows) => [...rows, { ...rows[3]!, event: 18 }])],
  ['mail-ack-wrong', 'accepted before delivered', withMail('lines', (rows) => changed(rows, 0, { what: 'accepted' }))],
  [
    'mail-ack-wrong',
    'accepted, and waiting again',
    withMail('deliveries', (rows) => changed(rows, 0, { state: 'waiting' })),
  ],
  ['mail-ack-wrong', 'accepted without an ack', withMail('lines', (rows) => rows.toSpliced(4, 1))],
  ['mail-ack-wrong', 'void, and no event says so', withMail('lines', (rows) => rows.slice(0, 5))],
  [
    'mail-held-wrong',
    'of a lost turn, and read',
    withMail('deliveries', (rows) => changed(rows, 2, { state: 'accepted' })),
  ],
  [
    'mail-held-wrong',
    'of a lost turn, and in the inbox',
    withMail('deliveries', (rows) => changed(rows, 2, { held: 0 })),
  ],
  [
    'mail-held-wrong',
    'of a turn that runs, and void',
    withMail('messages', (rows) => changed(rows, 2, { held: 'a-2' })),
  ],
  ['mail-held-wrong', 'of a turn that completed, and void', (h) => (h.settlements[0]!.outcome = 'completed')],
  ['mail-held-wrong', 'of nobody, and void', withMail('messages', (rows) => changed(rows, 2, { held: null }))],
  [
    'mail-ack-order',
    'the younger was read first',
    withMail('lines', (rows) => changed(changed(rows, 3, { mailSeq: 2 }), 4, { mailSeq: 1 })),
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

test('only turns are held to caps, and to those that held when they were claimed', () => {
  const history = clean();
  history.limits = { r: [{ since: 0, limits: { turns: 9 } }, ...(capped({ turns: 1 }, 7)['r'] ?? [])] };
  expect(checkHistory(history)).toEqual([]);
  history.limits = { r: [{ since: 0, limits: { turns: 1 } }, ...(capped({ turns: 2 }, 6)['r'] ?? [])] };
  expect(checkHistory(history)).toEqual([]);
  history.limits = capped({ turns: 1 });
  history.attempts[1]!.kind = 'check';
  expect(checkHistory(history)).toEqual([]);
});

test('a turn whose agent never ran counts for no cap', () => {
  const history = clean();
  history.settlements[0]!.failure = 'never-started';
  history.limits = capped({ turns: 1 });
  expect(checkHistory(history).map(({ rule }) => rule)).toEqual(['settlement-differs']);
});

test('every rule has a history that breaks it', () => {
  expect(new Set(BREAKS.map(([rule]) => rule))).toEqual(new Set(HISTORY_RULES));
});
