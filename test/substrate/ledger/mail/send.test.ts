import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { messageSchema } from '../../../../src/model/mail/envelope.ts';
import { checkDatabase, exportLedger, openLedger } from '../../../../src/substrate/ledger/index.ts';
import { decide, refusal } from '../support.ts';
import { assign, clarify, MINUTE, note, openMailRoom, person, POLICY, review, sent, turnOf } from './support.ts';
import { ALL } from '../../../support/lane.ts';

test('a message is in every inbox when it is sent, with what the router made of it', () => {
  const { mail, clock, ledger } = openMailRoom();
  const answer = mail.send(person('MAIN'), review(['A', 'b']));
  const { id: session } = mail.session('r');
  expect(answer).toMatchObject({
    sent: true,
    repeated: false,
    message: {
      v: '1',
      session,
      epoch: 1,
      seq: 1,
      id: `${session}-1-1`,
      agent_instance: 'MAIN-somebody',
      from: 'MAIN',
      to: ['A', 'B'],
      ts: clock.time,
      owner: 'MAIN',
      ttl_ms: POLICY.ttlMs,
    },
  });
  const message = mail.message(`${session}-1-1`);
  expect(messageSchema.safeParse(message).error).toBeUndefined();
  for (const address of ['A', 'B']) {
    expect(mail.inbox(person(address)).map((delivery) => [delivery.message, delivery.state])).toEqual([
      [message, 'waiting'],
    ]);
  }
  expect(ledger.events({ stream: 'r' }).filter(({ type }) => type === 'mail-sent')).toMatchObject([
    {
      cause: null,
      epoch: null,
      data: {
        id: `${session}-1-1`,
        seq: 1,
        from: 'MAIN',
        to: ['A', 'B'],
        type: 'ask',
        action: 'review',
        task: 'DOC',
        corr: null,
        held: null,
      },
    },
  ]);
});

test('seq and epoch count over all runs of a workspace, without gaps and by each engine that starts; time never goes back', () => {
  const { mail, ledger, clock } = openMailRoom();
  ledger.createRun({ id: 's', name: 'second' });
  ledger.releaseLease(ledger.acquireLease('s', 'one'));
  mail.open(ledger.acquireLease('s', 'two'), POLICY);
  const ids = [];
  for (const [runId, back] of [
    ['r', 0],
    ['s', 5000],
    ['r', 3000],
  ] as const) {
    clock.time -= back;
    const answer = mail.send(person('A', runId), note());
    if (answer.sent) ids.push([answer.message.seq, answer.message.epoch, answer.message.ts]);
  }
  expect(ids).toEqual([
    [1, 3, 1_000_000],
    [2, 3, 1_000_000],
    [3, 3, 1_000_000],
  ]);
  expect(mail.session('r').id).toBe(mail.session('s').id);
  expect(mail.session('s')).toMatchObject({ epoch: 3, lastSeq: 3 });
  ledger.acquireLease('r', 'three');
  expect(mail.session('s')).toMatchObject({ epoch: 4 });
});

test('the session outlives the process; a cold start is a new epoch, and the old one is refused', () => {
  const room = openMailRoom();
  const { mail, ledger } = room;
  const { id } = mail.session('r');
  ledger.releaseLease(room.lease);
  ledger.acquireLease('r', 'again');
  expect(mail.session('r')).toMatchObject({ id, epoch: 2 });
  expect(mail.send(person('A'), { ...note(), epoch: 1 })).toMatchObject({
    sent: false,
    refusal: { reason: 'invalid_format', field: 'epoch' },
  });
  expect(mail.send(person('A'), { ...note(), session: id, epoch: 2 })).toMatchObject({ sent: true });
  const other = openLedger(room.directory, { clock: room.clock, readOnly: true });
  expect(other.mail.session('r').id).toBe(id);
  other.close();
});

test('a key is a message once, of each sender', () => {
  const { mail } = openMailRoom();
  const first = mail.send(person('A'), note('one'), 'k');
  expect(mail.send(person('A'), note('two'), 'k')).toEqual({ ...first, repeated: true });
  expect(mail.send(person('B'), note('three'), 'k')).toMatchObject({
    sent: true,
    repeated: false,
    message: { seq: 2 },
  });
  expect(mail.send(person('A'), note(), '')).toMatchObject({ sent: false, refusal: { field: 'key' } });
  expect(mail.inbox(person('MAIN'))).toHaveLength(2);
});

test('what is refused is on record by its rule, never by what it said, and nothing is sent', () => {
  const { mail, ledger } = openMailRoom();
  const secret = 'the words of the sender';
  const refused = [
    mail.send(person('A'), { ...note(secret), seq: 1 }),
    mail.send(person('A'), { ...note(secret), to: ['B'] }),
    mail.send(person('A'), { ...note(secret), to: ['nobody'] }),
    mail.send(person('A'), secret),
    mail.send(person('X'), note(secret)),
  ];
  expect(refused.map((answer) => (answer.sent ? 'sent' : `${answer.refusal.reason} ${answer.refusal.field}`))).toEqual([
    'invalid_format seq',
    'not_authorized to[0]',
    'invalid_format to[0]',
    'invalid_format ',
    'not_authorized ',
  ]);
  mail.refuse(person('A'), { reason: 'invalid_format', field: 'flags', rule: 'are known' });
  const events = ledger.events({ stream: 'r' }).filter(({ type }) => type === 'mail-refused');
  expect(events).toHaveLength(6);
  expect(events[1]?.data).toEqual({
    by: 'person',
    address: 'A',
    reason: 'not_authorized',
    field: 'to[0]',
    rule: expect.stringContaining('MAIN') as string,
  });
  expect(JSON.stringify(events)).not.toContain(secret);
  expect(mail.status('r').counts).toEqual({ messages: 0, unread: 0, dead: 0, refused: 6 });
});

test('the queue of one recipient is full at 1,000 unread, and has room again when one is read', ALL, () => {
  const { mail } = openMailRoom();
  for (let count = 0; count < 1_000; count += 1) sent(mail.send(person('A'), note()));
  expect(mail.send(person('B'), note())).toMatchObject({
    sent: false,
    refusal: {
      reason: 'queue_full',
      field: 'to[0]',
      rule: "recipient's inbox is full (1,000 unread); send to MAIN again once it has read some",
    },
  });
  expect(mail.send(person('MAIN'), review(['A']))).toMatchObject({ sent: true });
  const [oldest] = mail.inbox(person('MAIN'), 1);
  mail.accept(person('MAIN'), [oldest?.message.id ?? '']);
  expect(mail.send(person('B'), note())).toMatchObject({ sent: true });
});

test('a body over 4 KiB is a private file with a digest; a changed or a missing one is damage', () => {
  const room = openMailRoom();
  const { mail, directory } = room;
  const small = mail.send(person('A'), note('x'.repeat(4000)));
  const large = mail.send(person('A'), note('ü'.repeat(4000)));
  if (!small.sent || !large.sent) throw new Error('refused');
  expect(small.message.body_ref).toBeUndefined();
  expect(large.message).toMatchObject({ body: '', body_ref: `blobs/${large.message.id}.json` });
  expect(mail.bodyOf(large.message)).toBe(note('ü'.repeat(4000)).body);
  expect(mail.bodyOf(small.message)).toBe(small.message.body);
  const path = join(directory, large.message.body_ref ?? '');
  expect([statSync(path).mode & 0o777, statSync(join(directory, 'blobs')).mode & 0o777]).toEqual([0o600, 0o700]);
  writeFileSync(path, readFileSync(path, 'utf8').replace('ü', 'u'));
  expect(refusal(() => mail.bodyOf(large.message))).toBe('database-corrupt');
  // A path from outside is never followed: the file is found by the message.
  expect(refusal(() => mail.bodyOf({ ...large.message, body_ref: '../squad.db' }))).toBe('database-corrupt');
});

test('a file that a crash has left is nobody’s body, and is swept when the mailbox is opened', () => {
  const room = openMailRoom();
  const { mail, directory } = room;
  const large = sent(mail.send(person('A'), note('x'.repeat(5000))));
  const folder = join(directory, 'blobs');
  for (const name of ['left.json', `${large}.json.new`]) writeFileSync(join(folder, name), '{}');
  mail.open(room.lease, POLICY);
  expect(readdirSync(folder)).toEqual([`${large}.json`]);
  expect(existsSync(join(directory, 'squad.db'))).toBe(true);
});

test('the policy is frozen; without one there is no mailbox', () => {
  const { mail, lease, ledger } = openMailRoom();
  mail.open(lease, { ...POLICY, members: [...POLICY.members] });
  expect(mail.policy('r')).toEqual(POLICY);
  expect(refusal(() => mail.open(lease, { ...POLICY, ttlMs: 1 }))).toBe('bad-input');
  ledger.createRun({ id: 's', name: 'second' });
  expect(mail.policy('s')).toBeUndefined();
  expect(refusal(() => mail.send(person('A', 's'), note()))).toBe('usage');
});

test('a message of another run is one that nobody can reply to', () => {
  const { mail, ledger, clock } = openMailRoom();
  ledger.createRun({ id: 's', name: 'second' });
  mail.open(ledger.acquireLease('s', 'x'), POLICY);
  const asked = sent(mail.send(person('MAIN', 's'), assign(['A'], clock.time + MINUTE)));
  const reply = { to: ['MAIN'], type: 'done', corr: asked, body: '{"status":"no_issues"}' };
  expect(mail.send(person('A'), reply)).toMatchObject({ sent: false, refusal: { field: 'corr' } });
  expect(mail.send(person('A', 's'), reply)).toMatchObject({ sent: true });
});

test('the check and the export of a ledger hold the mailbox', () => {
  const room = openMailRoom();
  sent(room.mail.send(person('A'), clarify()));
  room.mail.beat(person('A'));
  expect(checkDatabase(room.path)).toMatchObject({ ok: true, problems: [], violations: [] });
  const rows = [...exportLedger(room.path, 'r')].map((line) => (JSON.parse(line) as { row: string }).row);
  expect(new Set(rows)).toEqual(
    new Set(['run', 'lease', 'event', 'mail-session', 'mail-policy', 'mail', 'mail-delivery', 'mail-receiver']),
  );
});

const INSTEAD = 'finish the turn, and put what is left into its answer';

test('a turn sends 200 messages at most, and 50 asks: no agent can keep all others busy', () => {
  const { mail, turn: begin } = openMailRoom();
  begin('t-1', 'a');
  const turn = turnOf('A', 't-1');
  for (let count = 0; count < 50; count += 1) sent(mail.send(turn, clarify()));
  expect(mail.send(turn, clarify())).toEqual({
    sent: false,
    refusal: { reason: 'queue_full', field: '', rule: `limit of 50 asks per turn reached; ${INSTEAD}` },
  });
  for (let count = 50; count < 200; count += 1) sent(mail.send(turn, note()));
  expect(mail.send(turn, note())).toMatchObject({
    refusal: { reason: 'queue_full', rule: `limit of 200 messages per turn reached; ${INSTEAD}` },
  });
  // Whoever is no turn is not held to it.
  expect(mail.send(person('A'), clarify())).toMatchObject({ sent: true });
});

test('what the engine sends is sent, however full the inbox is: its plan counts on it', ALL, () => {
  const room = openMailRoom();
  const { mail } = room;
  for (let count = 0; count < 1_000; count += 1) sent(mail.send(person('A'), note()));
  const mailed = { from: 'B', to: ['MAIN'], type: 'send', body: { text: 'well' } } as const;
  decide(room, { do: 'send-mail', key: 'told', mail: { ...mailed, to: [...mailed.to] } });
  expect(mail.status('r').counts).toMatchObject({ messages: 1_001, refused: 0 });
});
