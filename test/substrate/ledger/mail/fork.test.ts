import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Delivery } from '../../../../src/substrate/ports/mailbox.ts';
import { checkDatabase } from '../../../../src/substrate/ledger/index.ts';
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

/** A run that has all that this one's mailbox had at an event, by default the newest. */
function fork({ ledger }: MailRoom, seq = ledger.lastSeq()): void {
  const forked = { parent: { runId: 'r', seq }, head: 'h', kept: [], pins: [] };
  ledger.fork({ id: 'f', name: 'fork', definition: {}, forked, facts: [], decisions: [], inputs: [] });
}

/** The messages of a run as their readers see them, each with what became of its copies. */
function shown({ mail }: MailRoom, runId: string): unknown[] {
  const messages = [...mail.trace({ runId })].flatMap((line) => (line.event === 'message' ? [line.message] : []));
  const place = (id: string | null | undefined): unknown =>
    id === null || id === undefined || id === 'overdue' ? id : messages.findIndex((one) => one.id === id);
  return messages.map((message) => {
    const { from, to, type, action, task_id: task, corr, deadline, ttl_ms: ttl } = message;
    const copies = mail.deliveries(message.id).map((copy: Delivery) => {
      return [copy.recipient, copy.state, place(copy.answer)];
    });
    return { from, to, type, action, task, corr: place(corr), deadline, ttl, body: mail.bodyOf(message), copies };
  });
}

function tasksOf({ mail }: MailRoom, runId: string): unknown[] {
  return mail.status(runId).tasks.map(({ id, status, owner, deadline }) => ({ id, status, owner, deadline }));
}

describe('a fork', () => {
  it('has its parent’s messages, with bodies, replies and tasks, and what was read stays read', () => {
    const room = openMailRoom();
    const { mail, clock } = room;
    const far = clock.time + DAY;
    const given = sent(mail.send(person('MAIN'), assign(['A', 'B'], far)));
    const asked = sent(mail.send(person('A'), clarify()));
    sent(mail.send(person('MAIN'), answer(asked)));
    sent(mail.send(person('A'), note('ü'.repeat(4000))));
    sent(mail.send(person('A'), done(given)));
    const read = sent(mail.send(person('B'), note('read')));
    mail.accept(person('MAIN'), [read]);
    sent(mail.send(person('B'), note('unread')));
    sent(mail.send(person('MAIN'), review(['A', 'B'])));
    fork(room);
    expect(shown(room, 'f')).toEqual(shown(room, 'r'));
    expect(shown(room, 'f')).toHaveLength(8);
    expect(tasksOf(room, 'f')).toEqual(tasksOf(room, 'r'));
    expect(mail.policy('f')).toEqual(POLICY);
    expect(checkDatabase(room.path)).toMatchObject({ ok: true, problems: [], violations: [] });
  });

  it('has nothing that came later, nor what became of it later', () => {
    const room = openMailRoom();
    const { mail, ledger } = room;
    const first = sent(mail.send(person('A'), clarify()));
    const seq = ledger.lastSeq();
    sent(mail.send(person('MAIN'), answer(first)));
    mail.accept(person('MAIN'), [first]);
    fork(room, seq);
    expect(shown(room, 'f')).toMatchObject([{ from: 'A', copies: [['MAIN', 'waiting', null]] }]);
  });

  it('has what a turn sent that completed, as that of a past turn, and nothing of one that did not', () => {
    const room = openMailRoom();
    const { mail, clock } = room;
    const far = clock.time + DAY;
    const given = sent(mail.send(person('MAIN'), assign(['A', 'B'], far)));
    for (const [turn, agent, address, outcome] of [
      ['t-1', 'a', 'A', 'completed'],
      ['t-2', 'b', 'B', 'failed'],
    ] as const) {
      room.turn(turn, agent);
      sent(mail.send(turnOf(address, turn), done(given)));
      room.settle(turn, outcome);
    }
    room.turn('t-3', 'a');
    sent(mail.send(turnOf('A', 't-3'), done(given)));
    fork(room);
    expect(shown(room, 'f')).toMatchObject([{ action: 'assign' }, { from: 'A', type: 'done', corr: 0 }]);
    expect(mail.sentBy('t-1')).toHaveLength(1);
  });

  it('has what was given up and what nobody answered in time as it was, and its own clocks for the rest', () => {
    const room = openMailRoom();
    const { mail, clock, ledger, lease } = room;
    sent(mail.send(person('MAIN'), assign(['A'], clock.time + 2 * MINUTE)));
    sent(mail.send(person('MAIN'), review(['A', 'B'], {}, { review_deadline: clock.time + 3 * MINUTE })));
    sent(mail.send(person('MAIN'), verify(['A'])));
    sent(mail.send(person('B'), { ...note('soon'), ttl_ms: MINUTE }));
    for (let minute = 0; minute < 30; minute += 1) {
      clock.time += MINUTE;
      ledger.renewLease(lease, 0);
      mail.tick('r');
    }
    const types = new Set(ledger.events({ stream: 'r' }).map(({ type }) => type));
    expect([...types]).toEqual(expect.arrayContaining(['mail-dead', 'mail-overdue', 'mail-task-overdue']));
    fork(room);
    expect(shown(room, 'f')).toEqual(shown(room, 'r'));
    expect(tasksOf(room, 'f')).toEqual(tasksOf(room, 'r'));
    expect(mail.status('f').counts.dead).toBe(mail.status('r').counts.dead);
    expect(checkDatabase(room.path)).toMatchObject({ ok: true, problems: [], violations: [] });
  });

  it('has each row as its parent has it, under its own run and ids, with what a turn sent as that of a past one', () => {
    const room = openMailRoom();
    const { mail, clock, ledger } = room;
    sent(mail.send(person('A'), clarify(), 'question'));
    sent(mail.send(person('MAIN'), { ...note('well', ['A']), body: 'AAAA', body_encoding: 'base64' }));
    sent(mail.send(person('MAIN'), assign(['A', 'B'], clock.time + DAY, { owner: 'T', ttl_ms: 2 * MINUTE })));
    sent(mail.send(person('MAIN'), review(['B'], {}, { review_deadline: clock.time + MINUTE })));
    sent(mail.send(person('MAIN'), review(['T'], {}, { review_deadline: clock.time + DAY - 7 })));
    mail.accept(person('T'), [sent(mail.send(person('MAIN'), clarify({ to: ['T'] })))]);
    room.turn('m-1', 'main');
    const asked = mail.inbox(person('MAIN'))[0]?.message.id ?? '';
    const reply = { ...answer(asked), body: '{"text":"so","reason":"clear"}' };
    sent(mail.send(turnOf('MAIN', 'm-1'), reply));
    room.turn('m-2', 'main');
    const lost = sent(mail.send(turnOf('MAIN', 'm-2'), assign(['B'], clock.time + DAY, { task_id: 'F2' })));
    sent(mail.send(turnOf('MAIN', 'm-2'), { ...note('about it', ['B']), corr: lost }));
    room.settle('m-1');
    room.settle('m-2', 'failed');
    sent(mail.send(person('B'), { ...note('soon'), ttl_ms: MINUTE }));
    sent(mail.send(person('B'), { ...note('late'), ttl_ms: MINUTE }));
    clock.time += MINUTE;
    while (mail.tick('r') > 0);
    const late = mail.inbox(person('MAIN')).filter(({ state }) => state === 'dead')[1]?.message.id ?? '';
    mail.accept(person('MAIN'), [late]);
    clock.time += 5;
    fork(room);
    const db = new Database(room.path, { readonly: true });
    onTestFinished(() => void db.close());
    const columns = `party, sent_key, held, agent_instance, sender, recipients, type, action, task_id, owner, deadline,
      (SELECT count(*) FROM mail AS other WHERE other.run_id = mail.run_id AND other.seq < asked.seq AND EXISTS (
        SELECT 1 FROM mail_delivery WHERE mail_seq = other.seq AND state <> 'void')) AS asked,
      mail.corr IS NOT NULL AS has_corr, ttl_ms, body_encoding, body`;
    type Row = Readonly<Record<string, string | number | null>>;
    const mailOf = (run: string) => {
      const from = `FROM mail LEFT JOIN (SELECT id, seq FROM mail) AS asked ON asked.id = mail.corr`;
      const sql = `SELECT ${columns} ${from} WHERE run_id = ? AND EXISTS (
        SELECT 1 FROM mail_delivery WHERE mail_seq = mail.seq AND state <> 'void') ORDER BY mail.seq`;
      return db.prepare<[string], Row>(sql).all(run);
    };
    const expected = mailOf('r').map((row) => ({
      ...row,
      ...{ held: null, party: String(row['party']).replace(/^turn:/, 'past-turn:') },
      // The message that it was about never took effect, so the fork does not have it.
      ...(String(row['body']).includes('about it') ? { asked: 0, has_corr: 0 } : {}),
    }));
    expect(mailOf('f')).toEqual(expected);
    expect(expected.map(({ party, has_corr: corr }) => [party, corr])).toEqual([
      ['person:A:somebody', 0],
      ['person:MAIN:somebody', 0],
      ['person:MAIN:somebody', 0],
      ['person:MAIN:somebody', 0],
      ['person:MAIN:somebody', 0],
      ['person:MAIN:somebody', 0],
      ['past-turn:m-1', 1],
      ['past-turn:m-2', 0],
      ['person:B:somebody', 0],
      ['person:B:somebody', 0],
      ['router', 1],
      ['router', 1],
    ]);
    const copies = `SELECT recipient, state, is_ask, answer IS NOT NULL AS answered, answer = 'overdue' AS overdue, retries,
      accepted_at, due, answer_at, last_error FROM mail_delivery WHERE run_id = 'f' ORDER BY mail_seq, recipient`;
    const given = 'it was given up before the fork began';
    const due = 2 * MINUTE;
    expect(db.prepare(copies).raw().all()).toEqual([
      ['MAIN', 'accepted', 1, 1, 0, 0, clock.time, null, null, null],
      ['A', 'waiting', 0, 0, null, 0, null, due, null, null],
      ['A', 'waiting', 1, 0, null, 0, null, due, 1_000_000 + DAY, null],
      ['B', 'waiting', 1, 0, null, 0, null, due, 1_000_000 + DAY, null],
      ['B', 'waiting', 1, 1, 1, 0, null, due, null, null],
      ['T', 'waiting', 1, 0, null, 0, null, due, 1_000_000 + DAY - 7, null],
      ['T', 'accepted', 1, 0, null, 0, clock.time, null, clock.time + 30 * MINUTE, null],
      ['A', 'waiting', 0, 0, null, 0, null, due, null, null],
      ['B', 'waiting', 0, 0, null, 0, null, due, null, null],
      ['MAIN', 'dead', 0, 0, null, 0, null, null, null, given],
      ['MAIN', 'accepted', 0, 0, null, 0, clock.time, null, null, null],
      ['MAIN', 'waiting', 0, 0, null, 0, null, due, null, null],
      ['MAIN', 'waiting', 0, 0, null, 0, null, due, null, null],
    ]);
    const events = ledger.events({ stream: 'f' });
    const forked = events.find(({ type }) => type === 'run-forked')?.seq;
    const dead = mail.status('f').dead.map(({ message }) => message.id);
    expect(events.filter(({ type }) => type === 'mail-dead').map(({ data }) => data)).toEqual([
      { id: dead[0], to: 'MAIN', retries: 0, error: given },
    ]);
    const sends = events.filter(({ type }) => type === 'mail-sent');
    expect(sends.map(({ cause, epoch }) => [cause, epoch])).toEqual(sends.map(() => [forked, 0]));
  });

  it('has a late answer in the place of silence', () => {
    const room = openMailRoom();
    const { mail, clock } = room;
    const id = sent(mail.send(person('MAIN'), review(['A'], {}, { review_deadline: clock.time + MINUTE })));
    clock.time += MINUTE;
    expect(mail.tick('r')).toBe(1);
    sent(mail.send(person('A'), done(id)));
    fork(room);
    expect(shown(room, 'f')).toEqual(shown(room, 'r'));
  });

  it('of a run without a mailbox has none', () => {
    const room = openMailRoom();
    room.ledger.createRun({ id: 's', name: 'second' });
    const forked = { parent: { runId: 's', seq: room.ledger.lastSeq() }, head: 'h', kept: [], pins: [] };
    room.ledger.fork({ id: 'f', name: 'fork', definition: {}, forked, facts: [], decisions: [], inputs: [] });
    expect(room.mail.policy('f')).toBeUndefined();
  });
});

describe('the check of a ledger', () => {
  it('names each long message whose body was changed, is gone, or is no file', () => {
    const room = openMailRoom();
    const bodies = ['a', 'b', 'c', 'd'].map((letter) => sent(room.mail.send(person('A'), note(letter.repeat(5000)))));
    const [changed, gone, folder] = bodies.map((id) => `blobs/${id}.json`);
    writeFileSync(join(room.directory, changed ?? ''), '{}');
    rmSync(join(room.directory, gone ?? ''));
    rmSync(join(room.directory, folder ?? ''));
    mkdirSync(join(room.directory, folder ?? ''));
    writeFileSync(join(room.directory, 'blobs', 'other.json'), '{}');
    const { ok, problems } = checkDatabase(room.path);
    expect(ok).toBe(false);
    expect(problems).toHaveLength(3);
    expect(problems.join('\n')).toContain('is damaged');
    expect(problems.join('\n')).toContain('is gone');
    expect(problems.join('\n')).toContain('is not a file');
  });
});
