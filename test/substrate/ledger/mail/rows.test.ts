import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openLedger, teachRowDigest } from '../../../../src/substrate/ledger/index.ts';
import { bodyFiles, requireBodies } from '../../../../src/substrate/ledger/mail/bodies.ts';
import { createStore } from '../../../../src/substrate/ledger/store.ts';
import { armFailpoints } from '../../../../src/substrate/system/failpoint.ts';
import type { Ledger } from '../../../../src/substrate/ports/ledger.ts';
import { squadError } from '../support.ts';
import {
  assign,
  clarify,
  DAY,
  MINUTE,
  note,
  openMailRoom,
  person,
  POLICY,
  review,
  sent,
  turnOf,
  type MailRoom,
} from './support.ts';
import { ALL } from '../../../support/lane.ts';

function change({ path }: MailRoom, sql: string): void {
  const db = new Database(path);
  teachRowDigest(db);
  db.exec(`PRAGMA foreign_keys = OFF; DROP TRIGGER mail_never_changes; DROP TRIGGER mail_never_goes; ${sql}`);
  db.close();
}

function readOnly({ directory, clock }: MailRoom): Ledger {
  const other = openLedger(directory, { clock, readOnly: true });
  onTestFinished(() => other.close());
  return other;
}

describe('a damaged message', () => {
  test.each([
    ['UPDATE mail SET seal = NULL', 'message 1 does not match its seal.'],
    ["UPDATE mail SET sender = 'B'", 'message 1 does not match its seal.'],
    ["UPDATE mail SET body = '{}'", 'message 1 does not match its seal.'],
    ['DELETE FROM mail', 'message 1 is gone.'],
  ])('after %s is an error of each reader', (sql, what) => {
    const room = openMailRoom();
    const id = sent(room.mail.send(person('A'), note()));
    change(room, sql);
    const error = { code: 'database-corrupt', message: `${room.path}: ${what}` };
    expect(squadError(() => room.mail.inbox(person('MAIN')))).toMatchObject(error);
    if (sql.startsWith('DELETE')) return;
    expect(squadError(() => room.mail.message(id))).toMatchObject(error);
    expect(squadError(() => room.mail.messageFor(person('MAIN'), id))).toMatchObject(error);
  });

  test('and a policy that is none', () => {
    const room = openMailRoom();
    change(room, "UPDATE mail_policy SET policy = '{}'");
    expect(squadError(() => room.mail.policy('r'))).toMatchObject({
      code: 'database-corrupt',
      message: `${room.path}: mail policy of run r is damaged.`,
    });
  });
});

test('bodies are required of one run, and listed of all', () => {
  const room = openMailRoom();
  room.ledger.createRun({ id: 's', name: 'second' });
  room.mail.open(room.ledger.acquireLease('s', 'x'), POLICY);
  sent(room.mail.send(person('A'), note('x'.repeat(5_000))));
  const other = sent(room.mail.send(person('A', 's'), note('x'.repeat(5_000))));
  rmSync(join(room.directory, 'blobs', `${other}.json`));
  const db = new Database(room.path, { readonly: true });
  onTestFinished(() => void db.close());
  const store = createStore(db, { now: () => 0 });
  expect(() => requireBodies(store, 'r')).not.toThrow();
  const gone = `${other}.json: the body of message 2 is gone.`;
  expect(squadError(() => requireBodies(store, 's')).message).toContain(gone);
  expect(bodyFiles(store)).toHaveLength(2);
  expect(bodyFiles(store)[1]).toBe(`blobs/${other}.json`);
});

describe('a mailbox of a file that is only read', () => {
  test('has no tick to write where nothing is due', () => {
    const room = openMailRoom();
    const { mail } = readOnly(room);
    expect(mail.tick('r')).toBe(0);
    sent(room.mail.send(person('A'), { ...note(), ttl_ms: 2 }));
    expect(mail.nextDue('r')).toBe(room.clock.time + 2);
    room.clock.time += 1;
    expect(mail.tick('r')).toBe(0);
    room.clock.time += 1;
    expect(() => mail.tick('r')).toThrow();
  });

  test('has nothing to write where the same can receive, or a token speaks for its party', () => {
    const room = openMailRoom();
    room.mail.receivers(room.lease, ['A']);
    room.turn('a-1', 'a');
    const token = room.mail.issueTurnToken(room.lease, 'a-1');
    const { mail } = readOnly(room);
    expect(() => mail.receivers(room.lease, ['A'])).not.toThrow();
    expect(() => mail.receivers(room.lease, [])).toThrow();
    expect(mail.bearer(token)).toEqual(turnOf('A', 'a-1'));
    expect(() => mail.bearer('other')).toThrow();
  });

  test('is read as the writer reads it', () => {
    const room = openMailRoom();
    const { clock, mail: writer } = room;
    room.turn('m-1', 'main');
    const long = sent(writer.send(person('A'), note('x'.repeat(5_000))));
    const asked = sent(writer.send(person('A'), clarify()));
    const held = sent(writer.send(turnOf('MAIN', 'm-1'), assign(['A'], clock.time + DAY)));
    const reply = sent(writer.send(person('MAIN'), { ...note('so', ['A']), corr: asked }));
    const { mail } = readOnly(room);
    const message = mail.message(long);
    expect(message).toMatchObject({ id: long, seq: 1, from: 'A' });
    expect(mail.bodyOf(message!)).toBe(JSON.stringify({ text: 'x'.repeat(5_000) }));
    expect(mail.policy('r')).toEqual(POLICY);
    expect(mail.replies(asked).map(({ id }) => id)).toEqual([reply]);
    expect(mail.sentBy('m-1').map(({ id }) => id)).toEqual([held]);
    expect(mail.deferredBy('m-1').map(({ id }) => id)).toEqual([held]);
    expect(mail.originOf(held)).toEqual({ attemptId: 'm-1', key: null });
    expect(mail.message('none')).toBeUndefined();
    expect(mail.deliveries('none')).toEqual([]);
    expect(mail.unreadOf('r', ['MAIN'], 5).map(({ message: one }) => one.id)).toEqual([long, asked]);
  });
});

test('a message is between the two points before and after its transaction at which tests end the process', () => {
  const room = openMailRoom();
  const trace = join(room.directory, '..', 'points');
  armFailpoints(`trace=${trace}`);
  try {
    expect(room.mail.tick('r')).toBe(0);
    sent(room.mail.send(person('A'), note()));
    expect(room.mail.tick('r')).toBe(0);
  } finally {
    armFailpoints('');
  }
  expect(readFileSync(trace, 'utf8')).toBe(
    'mail.before-commit\nledger.before-commit\nledger.after-commit\nmail.after-commit\n',
  );
});

test('no secret of a message is stored', () => {
  const room = openMailRoom();
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  const id = sent(room.mail.send(person('A'), note(`it is ${secret}`)));
  const stored = room.mail.message(id)?.body ?? '';
  expect(stored).toContain('it is ');
  expect(stored).not.toContain(secret);
});

test('only the engine that has the lease opens, ends and reports', () => {
  const { mail, lease, ledger } = openMailRoom();
  ledger.acquireLease('r', 'next');
  const acts: (() => unknown)[] = [
    () => mail.open(lease, POLICY),
    () => mail.receivers(lease, ['A']),
    () => mail.finish(lease, ledger.lastSeq()),
  ];
  expect(acts.map((act) => squadError(act).code)).toEqual(acts.map(() => 'lease-fenced'));
});

test('a window closes by its own token alone', () => {
  const room = openMailRoom();
  const { mail, lease } = room;
  room.turn('a-1', 'a');
  const [turn, pane] = [mail.issueTurnToken(lease, 'a-1'), mail.issuePaneToken('r', 'a', 'window')];
  for (const token of [turn, 'unknown']) mail.closePane(token);
  expect(mail.bearer(turn)).toEqual(turnOf('A', 'a-1'));
  expect(mail.bearer(pane)).toEqual({ by: 'pane', runId: 'r', address: 'A', instance: 'window' });
  // A turn's token does not end the window of its address, nor that of another.
  const other = mail.issuePaneToken('r', 'B', 'other');
  expect([pane, other].map((token) => mail.bearer(token)?.by)).toEqual(['pane', 'pane']);
  mail.closePane(pane);
  expect([pane, other].map((token) => mail.bearer(token)?.by)).toEqual([undefined, 'pane']);
  const db = new Database(room.path, { readonly: true });
  onTestFinished(() => void db.close());
  const columns = 'run_id, address, attempt_id, instance, issued_at, ended_at';
  expect(db.prepare(`SELECT ${columns} FROM mail_token ORDER BY rowid`).raw().all()).toEqual([
    ['r', 'A', 'a-1', null, 1_000_000, null],
    ['r', 'A', null, 'window', 1_000_000, 1_000_000],
    ['r', 'B', null, 'other', 1_000_000, null],
  ]);
});

test('a limit of one call is spent by all clocks together', ALL, () => {
  const { mail, clock } = openMailRoom();
  for (let count = 0; count < 251; count += 1) {
    sent(mail.send(person('MAIN'), review(['A', 'B'], { ttl_ms: MINUTE }, { review_deadline: clock.time + MINUTE })));
  }
  clock.time += MINUTE;
  expect([mail.tick('r'), mail.tick('r')]).toEqual([500, 500]);
  expect([mail.tick('r'), mail.tick('r')]).toEqual([4, 0]);
});
