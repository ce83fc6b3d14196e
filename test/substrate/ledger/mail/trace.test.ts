import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { teachRowDigest } from '../../../../src/substrate/ledger/index.ts';
import type { MailTrace } from '../../../../src/substrate/ports/mailbox.ts';
import { decide } from '../support.ts';
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
  review,
  sent,
  turnOf,
  verify,
  type MailRoom,
} from './support.ts';

/** Each line with the number of its message, and its time since the beginning. */
function told({ mail }: MailRoom, where: Parameters<typeof mail.trace>[0] = {}): unknown[] {
  const seq = (id: string) => Number(id.split('-').at(-1));
  return [...mail.trace(where)].map((line: MailTrace) => {
    if (line.event === 'presence') return ['presence', line.agent];
    if (line.event === 'message') return [line.message.seq, 'message', line.held];
    const last = line.event === 'ack' ? [line.ack, line.agent] : [line.event, line.agent, line.note];
    return [seq(line.id), ...last, line.ts - 1_000_000];
  });
}

describe('a trace', () => {
  test('tells of retries, of what was given up and of what is overdue, each with a note', () => {
    const room = openMailRoom();
    const { mail, clock } = room;
    sent(mail.send(person('MAIN'), review(['A'], {}, { review_deadline: clock.time + 4 * MINUTE })));
    sent(mail.send(person('MAIN'), assign(['B'], clock.time + 5 * MINUTE)));
    // The wait before the first retry is 24 to 36 s.
    for (const second of [0, 60, 120, 160, 240, 300]) {
      clock.time = 1_000_000 + second * 1_000;
      mail.tick('r');
      mail.beat(person('A'));
    }
    expect(told(room)).toEqual([
      [1, 'message', null],
      [1, 'delivered', 'A', 0],
      [2, 'message', null],
      [2, 'delivered', 'B', 0],
      [1, 'retry', 'A', 'retry 1: it was not accepted in time', 160_000],
      [1, 'overdue', 'A', 'the time for its answer is over', 4 * MINUTE],
      [2, 'overdue', 'B', 'the time for its answer is over', 5 * MINUTE],
      [2, 'dead', 'B', 'its deadline is over', 5 * MINUTE],
      [3, 'message', null],
      [3, 'delivered', 'MAIN', 5 * MINUTE],
    ]);
  });

  test('tells of what a turn holds when it is delivered or void', () => {
    const room = openMailRoom();
    const { mail, clock } = room;
    const asked = sent(mail.send(person('MAIN'), clarify({ to: ['A'] })));
    for (const turn of ['m-1', 'm-2', 'm-3']) {
      room.turn(turn, 'main');
      sent(mail.send(turnOf('MAIN', turn), assign(['A', 'B'], clock.time + DAY, { task_id: turn })));
    }
    room.turn('a-1', 'a');
    sent(mail.send(turnOf('A', 'a-1'), answer(asked, ['MAIN'])));
    clock.time += 5;
    room.settle('m-1');
    room.settle('m-2', 'failed');
    room.settle('a-1');
    const promise = 'squad answers in its place, once it knows whether the document that it promises was delivered';
    const lines = [
      [1, 'message', null],
      [1, 'delivered', 'A', 0],
      [2, 'message', null],
      [3, 'message', null],
      [4, 'message', 'm-3'],
      [5, 'message', null],
      [2, 'delivered', 'A', 5],
      [2, 'delivered', 'B', 5],
      [3, 'void', 'A', 'its turn did not complete', 5],
      [3, 'void', 'B', 'its turn did not complete', 5],
      [5, 'void', 'MAIN', promise, 5],
    ];
    expect(told(room)).toEqual(lines);
    expect(told(room, { runId: 'r' })).toEqual(lines);
    expect(told(room, { task: 'm-1' })).toEqual([lines[2], lines[6], lines[7]]);
    expect(told(room, { task: 'm-2' })).toEqual([lines[3], lines[8], lines[9]]);
    expect(told(room, { task: 'none' })).toEqual([]);
    expect(told(room, { afterSeq: 2 })).toEqual([...lines.slice(3, 6), ...lines.slice(8)]);
    expect(told(room, { afterSeq: 1 })).toEqual(lines.slice(2));
    expect(told(room, { afterSeq: 9 })).toEqual([]);
  });

  test('tells of readers in their place, but not of a task', () => {
    const room = openMailRoom();
    const { mail } = room;
    mail.register(person('A'), { windowName: 'w' });
    sent(mail.send(person('MAIN'), review(['A'])));
    mail.register(person('B'));
    expect(told(room)).toEqual([
      ['presence', 'A-somebody'],
      [1, 'message', null],
      [1, 'delivered', 'A', 0],
      ['presence', 'B-somebody'],
    ]);
    expect(told(room, { task: 'DOC' })).toEqual([
      [1, 'message', null],
      [1, 'delivered', 'A', 0],
    ]);
    expect(told(room, { afterSeq: 1 })).toEqual([['presence', 'B-somebody']]);
    expect([...mail.trace({})].filter(({ event }) => event === 'presence')).toMatchObject([
      { meta: { role: 'A', window_name: 'w', ts: 1_000_000, epoch: 1 } },
      { meta: { role: 'B', window_name: null, ts: 1_000_000, epoch: 1 } },
    ]);
  });

  test('has no line that is older than the one before', () => {
    const room = openMailRoom();
    const { mail, clock } = room;
    const id = sent(mail.send(person('MAIN'), review(['A'])));
    clock.time -= 500;
    mail.accept(person('A'), [id]);
    clock.time += 700;
    sent(mail.send(person('A'), done(id)));
    clock.time -= 700;
    sent(mail.send(person('A'), note()));
    const times = [...mail.trace({})].map((line) =>
      line.event === 'message' ? line.message.ts : line.event === 'ack' ? line.ts : 0,
    );
    expect(times.map((time) => time - 1_000_000)).toEqual([0, 0, 0, 200, 200, 200, 200]);
  });

  test('tells of several that were read at once, each with its reader', () => {
    const room = openMailRoom();
    const { mail } = room;
    const ids = [sent(mail.send(person('MAIN'), review(['A']))), sent(mail.send(person('MAIN'), verify(['A'])))];
    mail.accept(person('A'), ids);
    expect(told(room).slice(4)).toEqual([
      [1, 'accepted', 'A', 0],
      [2, 'accepted', 'A', 0],
    ]);
    expect(told(room, { afterSeq: 1 }).slice(2)).toEqual([[2, 'accepted', 'A', 0]]);
  });

  test('leaves out an event that says nothing of a message, and has a note for an older one', () => {
    const room = openMailRoom();
    const { mail, path } = room;
    room.turn('m-1', 'main');
    const id = sent(mail.send(turnOf('MAIN', 'm-1'), assign(['A'], room.clock.time + DAY)));
    room.settle('m-1', 'failed');
    const db = new Database(path);
    teachRowDigest(db);
    const add = (type: string, data: object) => {
      db.prepare(`INSERT INTO event SELECT max(seq) + 1, 'r', ?, 5, NULL, NULL, ?, NULL FROM event`).run(
        ...[type, JSON.stringify(data)],
      );
      db.exec(`DROP TRIGGER event_never_changes; UPDATE event SET seal = row_digest(seq, stream, type, at, cause, epoch, data)
        WHERE seal IS NULL; CREATE TRIGGER event_never_changes BEFORE UPDATE ON event
        BEGIN SELECT raise(ABORT, 'an event never changes'); END;`);
    };
    add('mail-sent', { id });
    add('mail-dead', { id: 4, to: 'A' });
    add('mail-registered', { agent: 'A' });
    add('attempt-settled', { attemptId: 4 });
    add('mail-sent', { id: 'none-1-1', to: ['A'] });
    add('mail-void', { id, to: ['A'] });
    add('mail-retried', { id, to: 'A' });
    add('mail-dead', { ids: [id], to: 'A' });
    add('mail-accepted', { to: 'A' });
    db.close();
    expect(told(room)).toEqual([
      [1, 'message', null],
      [1, 'void', 'A', 'its turn did not complete', 0],
      [1, 'void', 'A', 'its turn did not complete', 0],
      [1, 'retry', 'A', 'retry 0: it was not accepted in time', 0],
      [1, 'dead', 'A', '', 0],
    ]);
  });

  test('tells of exactly one page of events, and of more', () => {
    const room = openMailRoom();
    for (let count = 0; count < 500; count += 1) room.mail.register(person('A'));
    expect(told(room)).toHaveLength(500);
    room.mail.register(person('B'));
    expect(told(room).at(-1)).toEqual(['presence', 'B-somebody']);
    expect(told(room)).toHaveLength(501);
  });

  test('is of one run, whose events alone it reads', () => {
    const room = openMailRoom();
    decide(room, { do: 'send-mail', key: 'k', mail: { from: 'MAIN', to: ['A'], type: 'send', body: { text: 'so' } } });
    expect(told(room, { runId: 'r' })).toHaveLength(2);
    expect(told(room, { runId: 'other' })).toEqual([]);
  });
});
