// @module-tag all
import { expect, test } from 'vitest';
import { MAIN, ROUTER } from '../../../../src/model/mail/vocabulary.ts';
import { decide, violations } from '../support.ts';
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

/** Lets time pass as an engine and these readers do, which tick and say that they live, more often than they would have to. */
function pass(room: MailRoom, ms: number, ...readers: string[]): number {
  const step = ms > 10 * MINUTE ? 30_000 : 10_000;
  let changes = 0;
  for (let left = ms; left > 0; left -= step) {
    for (const reader of readers) room.mail.beat(person(reader));
    room.clock.time += Math.min(left, step);
    room.ledger.renewLease(room.lease, 0);
    changes += room.mail.tick('r');
  }
  return changes;
}

function eventsOf(room: MailRoom, ...types: string[]): unknown[] {
  return room.ledger
    .events({ stream: 'r' })
    .flatMap(({ type, data }) => (types.includes(type) ? [{ type, data }] : []));
}

function letters(room: MailRoom): unknown[] {
  return room.mail
    .inbox(person(MAIN))
    .filter(({ message }) => message.from === ROUTER)
    .map(({ message }) => ({ corr: message.corr, body: JSON.parse(message.body) as unknown }));
}

test('what somebody could read and does not is tried five times more, then given up, and MAIN is told', () => {
  const room = openMailRoom();
  const { mail, clock } = room;
  const id = sent(mail.send(person('MAIN'), review(['A'], {}, { review_deadline: clock.time + DAY })));
  const moments: number[] = [];
  for (let minute = 0; minute < 60; minute += 1) {
    const before = eventsOf(room, 'mail-retried').length;
    pass(room, MINUTE, 'A');
    if (eventsOf(room, 'mail-retried').length > before) moments.push(minute + 1);
    if (mail.status('r').counts.dead > 0) break;
  }
  expect(moments).toHaveLength(5);
  // Two minutes, then 30 s, 2 m, 5 m, 10 m and 10 m, each a fifth longer or shorter, and two minutes for each try.
  expect(moments[0]).toBeGreaterThanOrEqual(2);
  expect(moments[4]).toBeGreaterThanOrEqual(30);
  expect(moments[4]).toBeLessThanOrEqual(46);
  expect(eventsOf(room, 'mail-retried', 'mail-dead')).toEqual([
    ...[1, 2, 3, 4, 5].map((retry) => ({ type: 'mail-retried', data: { id, to: 'A', retry } })),
    { type: 'mail-dead', data: { id, to: 'A', retries: 5, error: 'it was not accepted in time' } },
  ]);
  expect(letters(room)).toEqual([
    {
      corr: id,
      body: {
        reason: 'not accepted',
        message_id: id,
        target: 'A',
        last_error: 'it was not accepted in time',
        retries: 5,
        blocked_by: [],
      },
    },
  ]);
  expect([...mail.trace({})].filter(({ event }) => event === 'retry' || event === 'dead')).toHaveLength(6);
  expect(violations(room.path)).toEqual([]);
});

test('a late accept of a dead letter is allowed, and recorded; one that comes in time ends the retries', () => {
  const room = openMailRoom();
  const { mail } = room;
  const dead = sent(mail.send(person('MAIN'), verify(['A'], { ttl_ms: MINUTE })));
  const read = sent(mail.send(person('MAIN'), verify(['B'])));
  pass(room, 4 * MINUTE, 'A', 'B');
  expect(mail.deliveries(read)).toMatchObject([{ state: 'waiting', retries: 1 }]);
  expect(mail.deliveries(dead)).toMatchObject([{ state: 'dead' }]);
  expect(mail.unreadOf('r', ['A'], 9)).toEqual([]);
  expect(mail.inbox(person('A'))).toMatchObject([{ state: 'dead', message: { id: dead } }]);
  expect(mail.accept(person('A'), [dead])).toEqual([dead]);
  expect(mail.accept(person('B'), [read])).toEqual([read]);
  expect(pass(room, 9 * MINUTE)).toBe(0);
  expect(mail.deliveries(dead)).toMatchObject([{ state: 'accepted', lastError: 'its time to live is over' }]);
  expect(mail.status('r').counts.dead).toBe(0);
  expect(violations(room.path)).toEqual([]);
});

test.for<[string, (room: MailRoom, able: string[]) => void]>([
  ['on its own', ({ mail, lease }, able) => mail.receivers(lease, able)],
  ['with a step', (room, able) => void decide(room, { do: 'set-receivers', able })],
])(
  'the clock of a letter stands still while no reader is there, whatever the engine says %s; its time to live does not',
  ([, setAble]) => {
    const room = openMailRoom();
    const { mail, clock } = room;
    sent(mail.send(person('MAIN'), review(['A'], {}, { review_deadline: clock.time + 9 * DAY })));
    expect(pass(room, 3 * 60 * MINUTE)).toBe(0);
    // An engine that could give it a turn, and lets it wait: for other reviews, say.
    setAble(room, ['A']);
    expect(pass(room, 5 * 60 * MINUTE)).toBe(0);
    expect(mail.status('r').members.find(({ address }) => address === 'A')).toMatchObject({ online: true });
    // A reader comes for a minute and a half, counted for a minute after its last word.
    expect(pass(room, 50_000, 'A')).toBe(0);
    expect(pass(room, 5 * 60 * MINUTE)).toBe(0);
    expect(pass(room, 20_000, 'A')).toBe(1);
    // The reader dies without a word.
    clock.time += 10 * 60 * MINUTE;
    expect(mail.tick('r')).toBe(0 + 1);
    expect(mail.deliveries(mail.inbox(person('A'))[0]?.message.id ?? '')).toMatchObject([
      { state: 'waiting', retries: 1 },
    ]);
    clock.time += DAY;
    mail.tick('r');
    expect(mail.status('r').dead).toMatchObject([{ lastError: 'its time to live is over', retries: 1 }]);
  },
);

test('a reader that beats can receive, with no engine at all; a former engine’s word ends with its lease', () => {
  const room = openMailRoom();
  const { mail, clock, lease, ledger } = room;
  const id = sent(mail.send(person('MAIN'), review(['A'])));
  mail.receivers(lease, ['A']);
  ledger.releaseLease(lease);
  clock.time += 10 * MINUTE;
  expect(mail.tick('r')).toBe(0);
  for (let beat = 0; beat < 5; beat += 1) {
    mail.beat(person('A'));
    clock.time += 30_000;
  }
  expect(mail.tick('r')).toBe(1);
  expect(mail.deliveries(id)).toMatchObject([{ lastError: 'it was not accepted in time' }]);
});

test('a member is there while its engine is, and not less so because a former one leaves', () => {
  const room = openMailRoom();
  const { mail, clock, lease, ledger } = room;
  const isOnline = (): boolean | undefined => mail.status('r').members.find(({ address }) => address === 'A')?.online;
  mail.receivers(lease, ['A']);
  clock.time += 30_000;
  ledger.releaseLease(lease);
  expect(isOnline()).toBe(false);
  clock.time += 10 * MINUTE;
  const next = ledger.acquireLease('r', 'next');
  mail.receivers(next, ['A']);
  ledger.releaseLease(lease);
  clock.time += 50_000;
  ledger.renewLease(next, 1);
  clock.time += 50_000;
  expect(isOnline()).toBe(true);
});

test('a turn that beats is there, and yet a long one kills no mail: what comes meanwhile waits for the next', () => {
  const room = openMailRoom();
  const { mail, clock } = room;
  room.turn('a-1', 'a');
  const id = sent(mail.send(person('MAIN'), review(['A'], {}, { review_deadline: clock.time + DAY })));
  for (let beat = 0; beat < 120; beat += 1) {
    mail.beat(turnOf('A', 'a-1'));
    expect(mail.status('r').members.find(({ address }) => address === 'A')).toMatchObject({ online: true });
    expect(mail.tick('r')).toBe(0);
    clock.time += 30_000;
  }
  expect(mail.deliveries(id)).toMatchObject([{ state: 'waiting', retries: 0, lastError: null }]);
  room.settle('a-1');
  clock.time += 30_000;
  expect(mail.status('r').members.find(({ address }) => address === 'A')).toMatchObject({ online: false });
});

test('letters that a turn has in its prompt have no clock; when it gives them back they have a new one', () => {
  const room = openMailRoom();
  const { mail } = room;
  const id = sent(mail.send(person('MAIN'), review(['A'], {}, { review_deadline: room.clock.time + DAY })));
  room.turn('a-1', 'a', [{ id, recipient: 'A' }]);
  expect(pass(room, 3 * 60 * MINUTE, 'A')).toBe(0);
  expect(mail.deliveries(id)).toMatchObject([{ state: 'leased', retries: 0 }]);
  room.settle('a-1', 'failed');
  expect(pass(room, 110_000, 'A')).toBe(0);
  expect(pass(room, 20_000, 'A')).toBe(1);
});

test('a letter of the router that nobody reads makes no further one', () => {
  const room = openMailRoom();
  sent(room.mail.send(person('MAIN'), review(['A'], { ttl_ms: MINUTE })));
  room.clock.time += MINUTE;
  room.mail.tick('r');
  expect(letters(room)).toHaveLength(1);
  room.clock.time += 2 * DAY;
  while (room.mail.tick('r') > 0);
  expect(room.mail.status('r').counts).toMatchObject({ messages: 2, dead: 2 });
});

test('a review that nobody answers is overdue, read or not; a late answer still counts', () => {
  const room = openMailRoom();
  const { mail, clock } = room;
  const id = sent(mail.send(person('MAIN'), review(['A', 'B'])));
  mail.accept(person('A'), [id]);
  clock.time += 60 * MINUTE - 1;
  expect(mail.tick('r')).toBe(0);
  expect(mail.nextDue('r')).toBe(clock.time + 1);
  clock.time += 1;
  expect(mail.tick('r')).toBe(2);
  expect(eventsOf(room, 'mail-overdue')).toEqual(
    ['A', 'B'].map((to) => ({ type: 'mail-overdue', data: { id, to, action: 'review', task: 'DOC' } })),
  );
  expect(mail.deliveries(id).map(({ answer: by }) => by)).toEqual(['overdue', 'overdue']);
  expect(mail.tick('r')).toBe(0);
  const late = sent(mail.send(person('A'), done(id)));
  expect(mail.deliveries(id).map(({ answer: by }) => by)).toEqual([late, 'overdue']);
});

test('a verify has ten minutes from when it was read; silence means that there is no new issue', () => {
  const room = openMailRoom();
  const { mail, clock } = room;
  const id = sent(mail.send(person('MAIN'), verify(['A', 'B'])));
  clock.time += 30 * MINUTE;
  expect(mail.tick('r')).toBe(0);
  mail.accept(person('A'), [id]);
  mail.accept(person('B'), [id]);
  expect(mail.deliveries(id).map(({ answerDue }) => answerDue)).toEqual([
    clock.time + 10 * MINUTE,
    clock.time + 10 * MINUTE,
  ]);
  sent(mail.send(person('A'), done(id, { action: 'verified', body: '{"has_new_issues":false}' })));
  clock.time += 10 * MINUTE;
  expect(mail.tick('r')).toBe(1);
  expect(eventsOf(room, 'mail-overdue')).toMatchObject([{ data: { id, to: 'B', action: 'verify' } }]);
  expect(mail.status('r').tasks).toMatchObject([{ id: 'DOC', status: 'verified' }]);
});

test('a question is told of every half hour from when it was read, and stays open', () => {
  const room = openMailRoom();
  const { mail, clock } = room;
  const id = sent(mail.send(person('A'), clarify()));
  clock.time += 2 * 60 * MINUTE;
  expect(mail.tick('r')).toBe(0);
  mail.accept(person(MAIN), [id]);
  for (let alert = 1; alert <= 3; alert += 1) {
    clock.time += 30 * MINUTE;
    expect(mail.tick('r')).toBe(1);
    expect(eventsOf(room, 'mail-overdue')).toHaveLength(alert);
  }
  expect(mail.openAsk(person(MAIN))).toMatchObject({ message: { id }, answer: null });
  sent(mail.send(person(MAIN), answer(id)));
  clock.time += 60 * MINUTE;
  expect(mail.tick('r')).toBe(0);
  expect([...mail.trace({})].filter(({ event }) => event === 'overdue')).toHaveLength(3);
});

test.each([
  ['that was read', true],
  ['that nobody has read', false],
])('an assignment %s fails at its deadline, once, and MAIN is told once', (_, read) => {
  const room = openMailRoom();
  const { mail, clock } = room;
  const deadline = clock.time + 20 * MINUTE;
  const id = sent(mail.send(person(MAIN), assign(['A'], deadline)));
  if (read) mail.accept(person('A'), [id]);
  clock.time = deadline - 1;
  expect(mail.tick('r')).toBe(0);
  expect(mail.nextDue('r')).toBe(deadline);
  clock.time = deadline;
  mail.tick('r');
  expect(mail.status('r').tasks).toMatchObject([{ id: 'F1', status: 'failed', deadline }]);
  expect(eventsOf(room, 'mail-task-overdue')).toEqual([
    { type: 'mail-task-overdue', data: { task: 'F1', id, to: ['A'] } },
  ]);
  expect(letters(room)).toMatchObject([
    { corr: id, body: { reason: 'deadline_exceeded', message_id: id, target: 'A', blocked_by: [] } },
  ]);
  expect(mail.deliveries(id)).toMatchObject([{ state: read ? 'accepted' : 'dead', answer: 'overdue' }]);
  expect(mail.tick('r')).toBe(0);
  expect(violations(room.path)).toEqual([]);
});

test('an assignment that was done in time never fails, and one that dies unread has failed', () => {
  const room = openMailRoom();
  const { mail, clock } = room;
  const inTime = sent(mail.send(person(MAIN), assign(['A'], clock.time + 20 * MINUTE)));
  sent(mail.send(person('A'), done(inTime)));
  sent(mail.send(person(MAIN), assign(['B'], clock.time + DAY, { task_id: 'F2', ttl_ms: MINUTE })));
  clock.time += 30 * MINUTE;
  while (mail.tick('r') > 0);
  expect(mail.status('r').tasks.map(({ id, status }) => [id, status])).toEqual([
    ['F1', 'done'],
    ['F2', 'failed'],
  ]);
  expect(eventsOf(room, 'mail-task-overdue')).toEqual([]);
});

test('an assignment that one of two has read is still open when the other’s letter is given up', () => {
  const room = openMailRoom();
  const { mail, clock } = room;
  const id = sent(mail.send(person(MAIN), assign(['A', 'B'], clock.time + DAY, { ttl_ms: MINUTE })));
  mail.accept(person('A'), [id]);
  clock.time += MINUTE;
  mail.tick('r');
  expect(letters(room)).toMatchObject([{ corr: id, body: { reason: 'deadline_exceeded', target: 'B' } }]);
  expect(mail.status('r').tasks).toMatchObject([{ id: 'F1', status: 'open' }]);
});

test('when more is due than one call may do, the next calls find it', () => {
  const room = openMailRoom();
  const { mail, clock } = room;
  for (let count = 0; count < 600; count += 1) sent(mail.send(person('A'), { ...note(), ttl_ms: MINUTE }));
  clock.time += MINUTE;
  expect([mail.tick('r'), mail.tick('r'), mail.tick('r')]).toEqual([500, 100, 0]);
  expect(mail.status('r').counts.dead).toBe(600);
});

test('the next moment at which a tick may find something; none where nothing is under way', () => {
  const room = openMailRoom();
  const { mail, clock } = room;
  expect(mail.nextDue('r')).toBeNull();
  const id = sent(mail.send(person(MAIN), verify(['A'])));
  expect(mail.nextDue('r')).toBe(clock.time + DAY);
  mail.receivers(room.lease, ['A']);
  expect(mail.nextDue('r')).toBe(clock.time + DAY);
  mail.beat(person('A'));
  expect(mail.nextDue('r')).toBe(clock.time + 2 * MINUTE);
  mail.accept(person('A'), [id]);
  expect(mail.nextDue('r')).toBe(clock.time + 10 * MINUTE);
  sent(mail.send(person('A'), done(id, { action: 'verified', body: '{"has_new_issues":false}' })));
  mail.accept(
    person(MAIN),
    mail.inbox(person(MAIN)).map(({ message }) => message.id),
  );
  expect(mail.nextDue('r')).toBeNull();
});

test('a question to a person is told of again and again, though nobody ever looks', () => {
  const [main, ...members] = POLICY.members;
  if (main === undefined) throw new Error('there is no MAIN');
  const room = openMailRoom({ ...POLICY, members: [{ ...main, agent: null, role: 'person' }, ...members] });
  room.turn('a-1', 'a');
  const id = sent(room.mail.send(turnOf('A', 'a-1'), clarify()));
  const told = (): number => eventsOf(room, 'mail-overdue').length;
  pass(room, 29 * MINUTE);
  expect(told()).toBe(0);
  pass(room, 2 * MINUTE);
  expect(eventsOf(room, 'mail-overdue')).toEqual([
    { type: 'mail-overdue', data: { id, to: MAIN, action: 'clarify', task: 'T1' } },
  ]);
  pass(room, 30 * MINUTE);
  expect(told()).toBe(2);
  // Half an hour for whoever has read it.
  room.mail.accept(person(MAIN), [id]);
  pass(room, 29 * MINUTE);
  expect(told()).toBe(2);
  room.mail.send(person(MAIN), answer(id));
  pass(room, 120 * MINUTE);
  expect(told()).toBe(2);
});
