import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
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
