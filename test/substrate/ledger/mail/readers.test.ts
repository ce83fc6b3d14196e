import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Delivery, MailParty } from '../../../../src/substrate/ports/mailbox.ts';
import { decide, openBench } from '../support.ts';
import {
  answer,
  assign,
  clarify,
  DAY,
  done,
  MINUTE,
  note,
  openMailRoom,
  person,
  POLICY,
  review,
  sent,
  turnOf,
  verify,
  type MailRoom,
} from './support.ts';

function paneOf({ mail }: MailRoom, address: string, name: string): MailParty {
  return mail.bearer(mail.issuePaneToken('r', address, name)) ?? person('nobody');
}

function seqs(deliveries: readonly Delivery[]): number[] {
  return deliveries.map(({ message }) => message.seq);
}

/** Rows as they are stored. */
function rows({ path }: MailRoom, sql: string): unknown[] {
  const db = new Database(path, { readonly: true });
  onTestFinished(() => void db.close());
  return db.prepare(sql).raw().all();
}

describe('a sender', () => {
  test('has a name of its own for keys, and one that people read', () => {
    const room = openMailRoom();
    const { mail } = room;
    for (const turn of ['a-1', 'b-1', 'a-2']) {
      room.turn(turn, turn.slice(0, 1));
    }
    const senders: readonly MailParty[] = [
      turnOf('A', 'a-1'),
      turnOf('A', 'a-2'),
      turnOf('B', 'b-1'),
      paneOf(room, 'A', 'window 1'),
      paneOf(room, 'B', 'a\u0000b\u007fc\u2028d'),
      paneOf(room, 'T', ''),
      person('A', 'r', 'dana'),
      person('A', 'r', 'x'.repeat(151)),
      person('B', 'r', 'a\nb'),
    ];
    for (const sender of senders) {
      const first = mail.send(sender, note(), 'key');
      expect(first).toMatchObject({ sent: true, repeated: false });
      expect(mail.send(sender, note(), 'key')).toEqual({ ...first, repeated: true });
    }
    expect(rows(room, 'SELECT party, agent_instance, sender, sent_key, epoch, held FROM mail ORDER BY seq')).toEqual(
      [
        ['turn:a-1', 'A-01', 'A'],
        ['turn:a-2', 'A-02', 'A'],
        ['turn:b-1', 'B-01', 'B'],
        ['pane:A:window 1', 'window 1', 'A'],
        ['pane:B:a\u0000b\u007fc\u2028d', 'a b c d', 'B'],
        ['pane:T:', 'unnamed', 'T'],
        ['person:A:dana', 'A-dana', 'A'],
        [`person:A:${'x'.repeat(151)}`, `A-${'x'.repeat(150)}`, 'A'],
        ['person:B:a\nb', 'B-a b', 'B'],
      ].map((row) => [...row, 'key', 1, null]),
    );
  });

  test('that is the router counts the engines that took a run', () => {
    const room = openMailRoom();
    const { mail } = room;
    sent(mail.send(person('MAIN'), { ...review(['A']), ttl_ms: MINUTE }));
    room.takeOver();
    room.clock.time += MINUTE;
    mail.tick('r');
    const columns = 'party, agent_instance, sender, recipients, type, action, task_id, owner, sent_key, ttl_ms';
    expect(rows(room, `SELECT ${columns} FROM mail WHERE seq = 2`)).toEqual([
      ['router', 'ROUTER-02', 'ROUTER', '["MAIN"]', 'fail', null, 'DOC', null, null, DAY],
    ]);
  });
});

/** Who sees which message, by its number. */
function seen({ mail }: MailRoom, party: MailParty, ids: readonly string[]): unknown[] {
  return ids.map((id) => {
    const found = mail.messageFor(party, id);
    return found === undefined ? undefined : [found.message.seq, found.answerDue];
  });
}

describe('one message', () => {
  test('is seen by its sender and its recipients, not before it takes effect, and in its run alone', () => {
    const room = openMailRoom();
    const { mail, clock } = room;
    room.ledger.createRun({ id: 's', name: 'second' });
    mail.open(room.ledger.acquireLease('s', 'x'), POLICY);
    room.turn('m-1', 'main');
    room.turn('m-2', 'main');
    const ids = [
      sent(mail.send(person('MAIN'), review(['A']))),
      sent(mail.send(person('MAIN'), assign(['tester'], clock.time + MINUTE, {}, 'hand-off'))),
      sent(mail.send(turnOf('MAIN', 'm-1'), assign(['A'], clock.time + 2 * MINUTE))),
      sent(mail.send(turnOf('MAIN', 'm-2'), assign(['A'], clock.time + 3 * MINUTE))),
      sent(mail.send(person('A'), note())),
      sent(mail.send(person('MAIN', 's'), review(['A', 'B', 'T']))),
    ];
    room.settle('m-2', 'failed');
    const due = clock.time + 60 * MINUTE;
    const views = () => ['MAIN', 'A', 'B', 'T'].map((address) => seen(room, person(address), [...ids, 'none']));
    expect(views()).toEqual([
      [[1, null], [2, null], [3, null], [4, null], [5, null], undefined, undefined],
      [[1, due], undefined, undefined, undefined, [5, null], undefined, undefined],
      Array.from({ length: 7 }, () => undefined),
      [undefined, [2, clock.time + MINUTE], ...Array.from({ length: 5 }, () => undefined)],
    ]);
    room.settle('m-1');
    expect(views()[1]?.[2]).toEqual([3, 1_000_000 + 2 * MINUTE]);
    expect(mail.messageFor(person('A'), ids[0] ?? '')?.message).toEqual(mail.message(ids[0] ?? ''));
  });
});

describe('the ask that is owed an answer', () => {
  test('is named, where there are several, by its sender and task', () => {
    const room = openMailRoom();
    const { mail, clock } = room;
    expect(mail.openAsk(person('A'))).toBe('A owes no answer');
    expect(mail.openAsk(person('A'), 'T1')).toBe('A owes no answer about task T1; open: nothing else');
    const first = sent(mail.send(person('MAIN'), clarify({ to: ['A'], task_id: 'T1' })));
    const { task_id: _, ...untold } = clarify({ to: ['A'] });
    const second = sent(mail.send(person('MAIN'), untold));
    expect(mail.openAsk(person('A'))).toBe(
      `A owes several answers: ${first} (MAIN, task T1), ${second} (MAIN, task -)`,
    );
    const third = sent(mail.send(person('MAIN'), clarify({ to: ['A'], task_id: 'T1' })));
    expect(mail.openAsk(person('A'), 'T1')).toMatchObject({ message: { id: third }, recipient: 'A' });
    decide(room, {
      do: 'send-mail',
      key: 'k',
      mail: {
        ...{ from: 'B', to: ['A'], type: 'ask', action: 'clarify', task: 'T1' },
        body: { code_path: 'a.ts', question: 'how?', context: 'here' },
      },
    });
    const fourth = mail.inbox(person('A')).at(-1)?.message.id ?? '';
    expect(mail.openAsk(person('A'), 'T1')).toBe(
      `A owes several answers about task T1: ${first} (MAIN, task T1), ${third} (MAIN, task T1), ${fourth} (B, task T1)`,
    );
    expect(mail.openAsk(person('A'), 'T9')).toBe(
      `A owes no answer about task T9; open: ${first} (MAIN, task T1), ${second} (MAIN, task -), ${third} (MAIN, task T1), ${fourth} (B, task T1)`,
    );
    // What a turn holds, and what is void, is owed by nobody.
    room.turn('m-1', 'main');
    sent(mail.send(turnOf('MAIN', 'm-1'), assign(['B'], clock.time + DAY)));
    expect(mail.openAsk(person('B'))).toBe('B owes no answer');
    room.settle('m-1', 'failed');
    expect(mail.openAsk(person('B'))).toBe('B owes no answer');
  });
});

describe('a reader', () => {
  test('has the oldest first, as many as it wants, and not what another one has before it', () => {
    const { mail, clock, ...room } = openMailRoom();
    for (const from of ['A', 'B', 'A', 'T', 'B']) sent(mail.send(person(from), note()));
    const [one, two] = [person('MAIN', 'r', 'one'), person('MAIN', 'r', 'two')];
    const read = mail.claim(one, { limit: 2, leaseMs: MINUTE });
    expect(read.map(({ message, state, recipient }) => [message.seq, state, recipient])).toEqual([
      [1, 'leased', 'MAIN'],
      [2, 'leased', 'MAIN'],
    ]);
    expect(
      rows(
        { ...room, mail, clock },
        'SELECT mail_seq, state, leased_by, leased_until, handed_to FROM mail_delivery ORDER BY 1',
      ),
    ).toEqual([
      [1, 'leased', 'person:MAIN:one', clock.time + MINUTE, null],
      [2, 'leased', 'person:MAIN:one', clock.time + MINUTE, null],
      [3, 'waiting', null, null, null],
      [4, 'waiting', null, null, null],
      [5, 'waiting', null, null, null],
    ]);
    expect(seqs(mail.unreadOf('r', ['MAIN'], 9))).toEqual([4]);
    expect(seqs(mail.claim(two, { limit: 9, leaseMs: MINUTE }))).toEqual([4]);
    // Its own leases do not stop it, and are no free messages.
    expect(seqs(mail.claim(one, { limit: 9, leaseMs: MINUTE }))).toEqual([3, 5]);
    clock.time += MINUTE - 1;
    expect(seqs(mail.claim(two, { limit: 9, leaseMs: MINUTE }))).toEqual([]);
    clock.time += 1;
    expect(seqs(mail.unreadOf('r', ['MAIN'], 9))).toEqual([1, 2, 3, 4, 5]);
    expect(seqs(mail.claim(two, { limit: 9, leaseMs: MINUTE }))).toEqual([1, 2, 3, 4, 5]);
  });

  test('that is a person begins no clock of an answer', () => {
    const { mail } = openMailRoom();
    const id = sent(mail.send(person('MAIN'), verify(['A'])));
    mail.claim(person('A'), { limit: 9, leaseMs: MINUTE });
    expect(mail.deliveries(id)).toMatchObject([{ state: 'leased', answerDue: null }]);
  });

  test('finds the messages of several recipients in the order in which they were sent', () => {
    const { mail, clock } = openMailRoom();
    sent(mail.send(person('MAIN'), assign(['tester'], clock.time + DAY, {}, 'hand-off')));
    sent(mail.send(person('MAIN'), note('one', ['T'])));
    sent(mail.send(person('MAIN'), assign(['tester'], clock.time + DAY, { task_id: 'F2' }, 'hand-off')));
    sent(mail.send(person('MAIN'), note('two', ['T'])));
    expect(seqs(mail.unreadOf('r', ['T', 'tester'], 9))).toEqual([1, 2, 3, 4]);
    expect(seqs(mail.unreadOf('r', ['T', 'tester'], 3))).toEqual([1, 2, 3]);
    expect(mail.unreadOf('r', ['T', 'tester'], 1)).toMatchObject([{ recipient: 'tester', state: 'waiting' }]);
  });

  test('accepts in the order sent, each once, on record by recipient', () => {
    const room = openMailRoom();
    const { mail, ledger, clock } = room;
    const role = sent(mail.send(person('MAIN'), assign(['tester'], clock.time + DAY, {}, 'hand-off')));
    const ids = ['a', 'b'].map((text) => sent(mail.send(person('MAIN'), note(text, ['T']))));
    room.turn('t-1', 'tess', [{ id: role, recipient: 'tester' }]);
    const all = [role, ...ids];
    expect(mail.accept(turnOf('T', 't-1'), [...all.toReversed(), role])).toEqual(all);
    const accepted = ledger.events({ stream: 'r' }).filter(({ type }) => type === 'mail-accepted');
    expect(accepted.map(({ data, cause, epoch }) => ({ data, cause, epoch }))).toEqual([
      { data: { to: 'tester', ids: [role] }, cause: null, epoch: null },
      { data: { to: 'T', ids }, cause: null, epoch: null },
    ]);
    expect(mail.accept(turnOf('T', 't-1'), all)).toEqual([]);
    expect(ledger.events({ stream: 'r' }).filter(({ type }) => type === 'mail-accepted')).toHaveLength(2);
    expect(rows(room, 'SELECT state, accepted_at, leased_by, leased_until, due FROM mail_delivery')).toEqual(
      all.map(() => ['accepted', clock.time, null, null, null]),
    );
  });

  test('has the time of a question from when it read it, and none for what is answered', () => {
    const { mail, clock } = openMailRoom();
    const asked = sent(mail.send(person('MAIN'), clarify({ to: ['A'] })));
    const answered = sent(mail.send(person('MAIN'), clarify({ to: ['B'] })));
    clock.time += 5;
    mail.accept(person('A'), [asked]);
    sent(mail.send(person('B'), { ...answer(answered, ['MAIN']), body: '{"text":"so","reason":"clear"}' }));
    expect([asked, answered].flatMap((id) => mail.deliveries(id).map(({ answerDue }) => answerDue))).toEqual([
      clock.time + 30 * MINUTE,
      clock.time + 30 * MINUTE,
    ]);
    expect(mail.nextDue('r')).toBe(clock.time + 30 * MINUTE);
    clock.time += 30 * MINUTE;
    expect(mail.tick('r')).toBe(1);
  });

  test('that is a turn without a process has the time of a verify from its end', () => {
    const room = openMailRoom();
    const { mail, clock } = room;
    const id = sent(mail.send(person('MAIN'), verify(['A'])));
    room.turn('a-1', 'a', [{ id, recipient: 'A' }]);
    clock.time += 5;
    room.settle('a-1');
    expect(mail.deliveries(id)).toMatchObject([{ state: 'accepted', answerDue: clock.time + 10 * MINUTE }]);
  });

  test('that is a turn is in the receivers under a name that no message has', () => {
    const room = openMailRoom();
    const { mail, clock, lease } = room;
    room.turn('a-1', 'a');
    mail.beat(turnOf('A', 'a-1'));
    mail.beat(person('B'));
    mail.receivers(lease, ['T']);
    const columns = 'address, able, able_until, beat_until, received_ms, counted_at';
    const stored = () => rows(room, `SELECT ${columns} FROM mail_receiver ORDER BY address`);
    expect(stored()).toEqual([
      ['B', 0, 0, clock.time + MINUTE, 0, clock.time],
      ['T', 1, clock.time + MINUTE, 0, 0, clock.time],
      ['turn/A', 0, 0, clock.time + MINUTE, 0, clock.time],
    ]);
    const from = clock.time;
    // Not yet half of the time: nothing is written anew.
    clock.time += 14_999;
    mail.receivers(lease, ['T', 'T']);
    room.ledger.renewLease(lease, 0);
    expect(stored()[1]).toEqual(['T', 1, from + MINUTE, 0, 0, from]);
    clock.time += 1;
    mail.receivers(lease, ['T']);
    expect(stored()[1]).toEqual(['T', 1, clock.time + MINUTE, 0, 0, clock.time]);
    mail.receivers(lease, []);
    expect(stored()[1]).toEqual(['T', 0, clock.time, 0, 0, clock.time]);
    expect(stored()).toHaveLength(3);
  });
});

test('a mailbox of an empty run', () => {
  const { ledger, lease, clock } = openBench();
  ledger.mail.open(lease, POLICY);
  const session = ledger.mail.session('r');
  expect(session).toEqual({ id: expect.any(String) as string, createdAt: clock.time, epoch: 1, lastSeq: 0 });
  expect(ledger.mail.status('r')).toEqual({
    session,
    members: POLICY.members.map(({ address, role, agent }) => ({
      ...{ address, role, agent },
      ...{ online: false, unread: 0, oldestUnread: null },
    })),
    ...{ tasks: [], unanswered: [], dead: [], counts: { messages: 0, unread: 0, dead: 0, refused: 0 } },
  });
});

test('status lists what is owed and what was given up, and not what no one waits for', () => {
  const room = openMailRoom();
  const { mail, clock } = room;
  room.turn('m-1', 'main');
  const held = sent(mail.send(turnOf('MAIN', 'm-1'), assign(['A'], clock.time + DAY)));
  const dead = sent(mail.send(person('MAIN'), review(['A'], { ttl_ms: MINUTE })));
  const asked = sent(mail.send(person('MAIN'), clarify({ to: ['B'] })));
  const answered = sent(mail.send(person('MAIN'), review(['B'], { task_id: 'D2' })));
  sent(mail.send(person('B'), done(answered)));
  clock.time += MINUTE;
  expect(mail.tick('r')).toBe(1);
  const { unanswered, dead: given, counts, tasks, members } = mail.status('r');
  expect(unanswered.map(({ message }) => message.id)).toEqual([asked]);
  expect(given.map(({ message }) => message.id)).toEqual([dead]);
  expect(counts).toEqual({ messages: 6, unread: 3, dead: 1, refused: 0 });
  expect(members.map(({ unread, oldestUnread }) => [unread, oldestUnread])).toEqual([
    [2, 1_000_000],
    [0, null],
    [1, 1_000_000],
    [0, null],
  ]);
  expect(tasks).toEqual([]);
  room.settle('m-1', 'failed');
  expect(mail.status('r').unanswered.map(({ message }) => message.id)).toEqual([asked]);
  expect(mail.deliveries(held)).toMatchObject([{ state: 'void', lastError: 'its turn did not complete' }]);
});
