import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
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

function rows({ path }: MailRoom, sql: string): unknown[] {
  const db = new Database(path, { readonly: true });
  onTestFinished(() => void db.close());
  return db.prepare(sql).raw().all();
}

function letters({ mail }: MailRoom): unknown[] {
  return mail
    .inbox(person('MAIN'))
    .filter(({ message }) => message.from === 'ROUTER')
    .map(({ message: { corr, task_id: task, body } }) => ({ corr, task, body: JSON.parse(body) as unknown }));
}

const verified = (corr: string) => done(corr, { action: 'verified', body: '{"has_new_issues":false}' });
const failed = (corr: string, to: string) => ({
  ...{ to: [to], type: 'fail', corr },
  body: JSON.stringify({ reason: 'no', blocked_by: [] }),
});

describe('the task of a message', () => {
  test('is, when it is assigned, with its owner and its deadline', () => {
    const { mail, clock } = openMailRoom();
    const far = clock.time + DAY;
    const id = sent(mail.send(person('MAIN'), assign(['A'], far, { owner: 'b' })));
    expect(mail.message(id)).toMatchObject({ owner: 'B', deadline: far, task_id: 'F1', action: 'assign' });
    sent(mail.send(person('MAIN'), assign(['A'], far + 5, { task_id: 'F2' })));
    sent(mail.send(person('MAIN'), verify(['A'], { owner: 'T' })));
    expect(mail.status('r').tasks).toEqual([
      { runId: 'r', id: 'F1', status: 'open', owner: 'B', deadline: far, retries: 0, lastUpdateSeq: 1 },
      { runId: 'r', id: 'F2', status: 'open', owner: 'MAIN', deadline: far + 5, retries: 0, lastUpdateSeq: 2 },
      { runId: 'r', id: 'DOC', status: 'verify_pending', owner: 'T', deadline: null, retries: 0, lastUpdateSeq: 3 },
    ]);
    // The new assignment of a task replaces all of it.
    const again = sent(mail.send(person('MAIN'), assign(['B'], far + 9)));
    sent(mail.send(person('B'), done(again)));
    expect(mail.status('r').tasks.map(({ id, status, owner, deadline }) => [id, status, owner, deadline])).toEqual([
      ['F2', 'open', 'MAIN', far + 5],
      ['DOC', 'verify_pending', 'T', null],
      ['F1', 'done', 'MAIN', far + 9],
    ]);
  });

  test('is none of an ask that names none', () => {
    const { mail } = openMailRoom();
    const { task_id: _, ...draft } = verify(['A']);
    const asked = sent(mail.send(person('MAIN'), draft));
    sent(mail.send(person('A'), verified(asked)));
    expect(mail.status('r').tasks).toEqual([]);
    expect(mail.deliveries(asked)).toMatchObject([{ state: 'accepted', answer: expect.any(String) as string }]);
  });

  test('is verified by the answers to its verify alone', () => {
    const { mail } = openMailRoom();
    const status = () => mail.status('r').tasks.map((one) => `${one.id} ${one.status} ${one.lastUpdateSeq}`);
    sent(mail.send(person('MAIN'), verify(['A', 'B'])));
    const question = sent(mail.send(person('MAIN'), clarify({ to: ['A'], task_id: 'DOC' })));
    const reply = { ...answer(question, ['MAIN']), body: '{"text":"so","reason":"clear"}' };
    sent(mail.send(person('A'), reply));
    expect(status()).toEqual(['DOC verify_pending 1']);
    const looked = sent(mail.send(person('MAIN'), review(['T'])));
    sent(mail.send(person('T'), done(looked)));
    expect(status()).toEqual(['DOC verify_pending 1']);
  });

  test('is open again when it is assigned while its verify is still under way', () => {
    const { mail, clock } = openMailRoom();
    const asked = sent(mail.send(person('MAIN'), verify(['A'], { task_id: 'F1' })));
    sent(mail.send(person('MAIN'), assign(['B'], clock.time + DAY)));
    sent(mail.send(person('A'), verified(asked)));
    expect(mail.status('r').tasks).toMatchObject([{ id: 'F1', status: 'open', lastUpdateSeq: 2 }]);
  });

  test('changes with what is newest when its verify ends', () => {
    const { mail } = openMailRoom();
    const asked = sent(mail.send(person('MAIN'), verify(['A'])));
    sent(mail.send(person('B'), note()));
    sent(mail.send(person('A'), verified(asked)));
    expect(mail.status('r').tasks).toMatchObject([{ status: 'verified', lastUpdateSeq: 3 }]);
  });
});

test('a refused ask waits for no answer: not of the engine, nor later of its reader', () => {
  const room = openMailRoom();
  const { mail } = room;
  const asked = sent(mail.send(person('MAIN'), clarify({ to: ['A'] })));
  const other = sent(mail.send(person('MAIN'), clarify({ to: ['B'] })));
  const body = { reason: 'no', blocked_by: [] };
  decide(room, { do: 'send-mail', key: 'k', mail: { from: 'ROUTER', to: ['MAIN'], type: 'fail', corr: asked, body } });
  const said = { from: 'ROUTER', to: ['MAIN'], type: 'fail', task: 'T7', body } as const;
  decide(room, { do: 'send-mail', key: 'l', mail: { ...said, to: ['MAIN'] } });
  expect(rows(room, 'SELECT party, sent_key, agent_instance, task_id, corr, body FROM mail WHERE seq > 2')).toEqual([
    ['engine', 'k', 'ROUTER-01', null, asked, JSON.stringify(body)],
    ['engine', 'l', 'ROUTER-01', 'T7', null, JSON.stringify(body)],
  ]);
  // The router reports, and ends no task.
  expect(mail.status('r').tasks).toEqual([]);
  const [first] = letters(room) as { corr: string }[];
  expect(first).toEqual({ corr: asked, task: undefined, body });
  mail.accept(person('A'), [asked]);
  expect(mail.deliveries(asked)).toMatchObject([{ state: 'accepted', answerDue: null }]);
  expect(mail.deliveries(other)).toMatchObject([{ state: 'waiting', answer: null }]);
  room.clock.time += 30 * MINUTE;
  expect(mail.tick('r')).toBe(0);
});

describe('the clocks of a copy', () => {
  const COLUMNS = 'recipient, state, held, due, expires_at, is_ask, answer_due, answer_at, retries, phase';
  const copies = (room: MailRoom) => rows(room, `SELECT ${COLUMNS} FROM mail_delivery ORDER BY mail_seq, recipient`);

  test('begin when it is sent, for those of a turn when the turn has completed', () => {
    const room = openMailRoom();
    const { mail, clock } = room;
    const from = clock.time;
    mail.beat(person('B'));
    room.turn('m-1', 'main');
    clock.time += 5_000;
    const now = clock.time;
    sent(mail.send(person('MAIN'), review(['A', 'B'], { ttl_ms: 7_000 }, { review_deadline: now + MINUTE })));
    sent(mail.send(person('MAIN'), assign(['tester'], now + 3_000, {}, 'hand-off')));
    sent(mail.send(person('A'), { ...note(), body: 'AAAA', body_encoding: 'base64' }));
    const held = sent(mail.send(turnOf('MAIN', 'm-1'), assign(['A'], now + DAY, { task_id: 'F2', ttl_ms: MINUTE })));
    const common = ['waiting', 0] as const;
    expect(copies(room)).toEqual([
      ['A', ...common, 2 * MINUTE, now + 7_000, 1, now + MINUTE, now + MINUTE, 0, 'ack'],
      ['B', ...common, 2 * MINUTE + 5_000, now + 7_000, 1, now + MINUTE, now + MINUTE, 0, 'ack'],
      ['tester', ...common, 2 * MINUTE, now + 3_000, 1, now + 3_000, now + 3_000, 0, 'ack'],
      ['MAIN', ...common, 2 * MINUTE, now + DAY, 0, null, null, 0, 'ack'],
      ['A', 'waiting', 1, null, now + MINUTE, 1, null, null, 0, 'ack'],
    ]);
    clock.time += 2_000;
    room.settle('m-1');
    expect(copies(room).at(-1)).toEqual([
      ...['A', 'waiting', 0, 2 * MINUTE, now + 2_000 + MINUTE, 1, now + DAY, now + DAY, 0, 'ack'],
    ]);
    expect(mail.deliveries(held)).toMatchObject([{ answerDue: now + DAY }]);
    // A clock that is set back does not shorten the life of a message.
    clock.time = from;
    sent(mail.send(person('A'), { ...note(), ttl_ms: 1_000 }));
    expect(copies(room).at(-1)).toEqual(['MAIN', ...common, 2 * MINUTE, now + 1_000, 0, null, null, 0, 'ack']);
  });

  test('a deadline within a note is none', () => {
    const room = openMailRoom();
    const body = JSON.stringify({ text: 'well', review_deadline: 5 });
    sent(room.mail.send(person('A'), { ...note(), body }));
    expect(copies(room)).toEqual([['MAIN', 'waiting', 0, 2 * MINUTE, room.clock.time + DAY, 0, null, null, 0, 'ack']]);
  });

  test('of a lost turn begin anew, and its review keeps its time', () => {
    const room = openMailRoom();
    const { mail, clock } = room;
    const due = clock.time + 60 * MINUTE;
    const id = sent(mail.send(person('MAIN'), review(['A'])));
    room.turn('a-1', 'a', [{ id, recipient: 'A' }]);
    const leased = rows(room, 'SELECT state, leased_by, leased_until, handed_to, due FROM mail_delivery');
    expect(leased).toEqual([['leased', 'turn:a-1', null, 'a-1', null]]);
    mail.beat(person('A'));
    clock.time += 10_000;
    room.settle('a-1', 'failed');
    expect(rows(room, `SELECT ${COLUMNS}, leased_by, leased_until, handed_to FROM mail_delivery`)).toEqual([
      ['A', 'waiting', 0, 2 * MINUTE + 10_000, 1_000_000 + DAY, 1, due, due, 0, 'ack', null, null, null],
    ]);
  });

  test('of a turn do not run while no engine is there, except those of a review; a clock set back moves none', () => {
    const room = openMailRoom();
    const { mail, clock, ledger, lease } = room;
    const looked = sent(mail.send(person('MAIN'), review(['A'])));
    const asked = sent(mail.send(person('MAIN'), verify(['A'])));
    room.turn('a-1', 'a', [
      { id: looked, recipient: 'A' },
      { id: asked, recipient: 'A' },
    ]);
    ledger.markSpawned(lease, 'a-1', { pid: 7, startTime: '1', bootId: 'b', marker: 'a-1' }, clock.time);
    const dues = () => rows(room, 'SELECT answer_due, answer_at FROM mail_delivery ORDER BY mail_seq');
    const [hour, ten] = [clock.time + 60 * MINUTE, clock.time + 10 * MINUTE];
    clock.time -= MINUTE;
    room.takeOver();
    expect(dues()).toEqual([
      [hour, hour],
      [ten, ten],
    ]);
    clock.time += 4 * MINUTE;
    room.takeOver();
    expect(dues()).toEqual([
      [hour, hour],
      [ten + 4 * MINUTE, ten + 4 * MINUTE],
    ]);
  });

  test('the next moment is now for a reader that has left once it has had its time', () => {
    const { mail, clock } = openMailRoom();
    const id = sent(mail.send(person('MAIN'), verify(['A'])));
    mail.beat(person('A'));
    clock.time += MINUTE;
    mail.beat(person('A'));
    clock.time += MINUTE - 1;
    expect(mail.nextDue('r')).toBe(clock.time + 1);
    expect(mail.tick('r')).toBe(0);
    clock.time += 1;
    expect(mail.nextDue('r')).toBe(clock.time);
    expect(mail.tick('r')).toBe(1);
    expect(mail.deliveries(id)).toMatchObject([{ retries: 0, lastError: 'it was not accepted in time' }]);
  });
});

describe('an assignment that is overdue', () => {
  test('is given up with each of its recipients, whoever has it before them, and reported in one letter', () => {
    const room = openMailRoom();
    const { mail, clock, ledger } = room;
    const deadline = clock.time + 20 * MINUTE;
    const id = sent(mail.send(person('MAIN'), assign(['A', 'B', 'T'], deadline)));
    mail.claim(person('A'), { limit: 1, leaseMs: DAY });
    mail.accept(person('B'), [id]);
    const before = ledger.lastSeq();
    clock.time = deadline;
    expect(mail.tick('r')).toBe(1);
    expect(
      rows(
        room,
        'SELECT recipient, state, leased_by, leased_until, due, answer, answer_at, last_error FROM mail_delivery WHERE mail_seq = 1 ORDER BY 1',
      ),
    ).toEqual([
      ['A', 'dead', null, null, null, 'overdue', null, 'its deadline is over'],
      ['B', 'accepted', null, null, null, 'overdue', null, null],
      ['T', 'dead', null, null, null, 'overdue', null, 'its deadline is over'],
    ]);
    expect(ledger.events({ after: before }).map(({ type, data }) => ({ type, data }))).toMatchObject([
      { type: 'mail-task-overdue', data: { task: 'F1', id, to: ['A', 'B', 'T'] } },
      { type: 'mail-dead', data: { id, to: 'A', retries: 0, error: 'its deadline is over' } },
      { type: 'mail-dead', data: { id, to: 'T', retries: 0, error: 'its deadline is over' } },
      { type: 'mail-sent', data: { from: 'ROUTER', to: ['MAIN'], type: 'fail', corr: id, task: 'F1' } },
    ]);
    expect(letters(room)).toEqual([
      {
        corr: id,
        task: 'F1',
        body: {
          reason: 'deadline_exceeded',
          message_id: id,
          target: 'A, B, T',
          last_error: 'its deadline is over',
          retries: 0,
          blocked_by: [],
        },
      },
    ]);
    expect(mail.status('r').tasks).toMatchObject([{ status: 'failed', lastUpdateSeq: 1 }]);
    expect(mail.nextDue('r')).toBe(clock.time + DAY);
    expect(violations(room.path)).toEqual([]);
  });

  test('keeps the answer of one who has answered, and counts the most retries', () => {
    const room = openMailRoom();
    const { mail, clock } = room;
    const deadline = clock.time + 20 * MINUTE;
    const id = sent(mail.send(person('MAIN'), assign(['A', 'B'], deadline)));
    for (let beat = 0; beat < 8; beat += 1) {
      mail.beat(person('A'));
      clock.time += 30_000;
      mail.tick('r');
    }
    expect(mail.deliveries(id)).toMatchObject([{ retries: 1 }, { retries: 0 }]);
    expect(mail.status('r').tasks).toMatchObject([{ status: 'open', retries: 1 }]);
    const reply = sent(mail.send(person('B'), done(id)));
    clock.time = deadline;
    mail.tick('r');
    expect(mail.deliveries(id)).toMatchObject([{ answer: 'overdue' }, { answer: reply }]);
  });

  test('that no one has read by its time to live has failed, for whatever reason it was given up', () => {
    const room = openMailRoom();
    const { mail, clock } = room;
    sent(mail.send(person('MAIN'), assign(['A', 'B'], clock.time + DAY, { ttl_ms: MINUTE })));
    sent(mail.send(person('MAIN'), review(['A'], { ttl_ms: MINUTE })));
    clock.time += MINUTE;
    expect(mail.tick('r')).toBe(3);
    expect(letters(room).map((one) => (one as { body: { last_error: string } }).body)).toMatchObject([
      { target: 'A', reason: 'deadline_exceeded', last_error: 'its time to live is over' },
      { target: 'B', reason: 'deadline_exceeded', last_error: 'its time to live is over' },
      { target: 'A', reason: 'deadline_exceeded', last_error: 'its time to live is over' },
    ]);
    expect(mail.status('r').tasks).toMatchObject([{ id: 'F1', status: 'failed' }]);
  });
});

test('what a member gives up ends its task, and the ask for it alone', () => {
  const { mail, clock } = openMailRoom();
  const id = sent(mail.send(person('MAIN'), assign(['A', 'B'], clock.time + DAY)));
  const reply = sent(mail.send(person('A'), failed(id, 'MAIN')));
  expect(mail.deliveries(id)).toMatchObject([
    { recipient: 'A', state: 'accepted', answer: reply },
    { recipient: 'B', state: 'waiting', answer: null },
  ]);
  expect(mail.status('r').tasks).toMatchObject([{ status: 'failed', lastUpdateSeq: 2 }]);
});

test('an ask to a role is closed by a member of that role', () => {
  const { mail } = openMailRoom();
  const id = sent(mail.send(person('MAIN'), clarify({ to: ['tester'] })));
  const reply = sent(mail.send(person('T'), { ...answer(id, ['MAIN']), body: '{"text":"so","reason":"clear"}' }));
  expect(mail.deliveries(id)).toMatchObject([{ recipient: 'tester', state: 'accepted', answer: reply }]);
});

test('an answer to a question of a person is due from when it was sent, for a member that is an agent from when it is read', () => {
  const [main, ...members] = POLICY.members;
  const { mail, clock } = openMailRoom({ ...POLICY, members: [{ ...main!, agent: null }, ...members] });
  const [toPerson, toAgent] = [
    sent(mail.send(person('A'), clarify())),
    sent(mail.send(person('MAIN'), clarify({ to: ['A'] }))),
  ];
  expect([toPerson, toAgent].map((id) => mail.deliveries(id)[0]?.answerDue)).toEqual([clock.time + 30 * MINUTE, null]);
});
