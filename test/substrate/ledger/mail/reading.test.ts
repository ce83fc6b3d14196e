import { expect, test } from 'vitest';
import { refusal, violations } from '../support.ts';
import {
  answer,
  assign,
  clarify,
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

const LEASE = { limit: 10, leaseMs: MINUTE };

function seqs(deliveries: readonly { message: { seq: number } }[]): number[] {
  return deliveries.map(({ message }) => message.seq);
}

function pane(room: MailRoom, address: string, instance: string) {
  const party = room.mail.bearer(room.mail.issuePaneToken('r', address, instance));
  if (party === undefined) throw new Error('no pane');
  return party;
}

test('what is claimed is leased to one reader, comes back when the lease ends, and stays read once it is accepted', () => {
  const { mail, clock } = openMailRoom();
  const ids = ['A', 'B', 'A'].map((from) => sent(mail.send(person(from), note(from))));
  const [me, other] = [person('MAIN'), person('MAIN', 'r', 'other')];
  expect(seqs(mail.claim(me, { limit: 2, leaseMs: MINUTE }))).toEqual([1, 2]);
  expect(mail.deliveries(ids[0] ?? '')).toMatchObject([{ state: 'leased', recipient: 'MAIN' }]);
  // The third is of the sender whose first letter is with somebody else.
  expect(seqs(mail.claim(other, LEASE))).toEqual([]);
  expect(seqs(mail.claim(me, LEASE))).toEqual([3]);
  expect(mail.accept(me, [ids[1] ?? ''])).toEqual([ids[1]]);
  expect(mail.accept(me, [ids[1] ?? ''])).toEqual([]);
  clock.time += MINUTE;
  expect(seqs(mail.claim(other, LEASE))).toEqual([1, 3]);
  expect(mail.accept(other, [ids[2] ?? '', ids[0] ?? ''])).toEqual([ids[0], ids[2]]);
  expect(mail.inbox(me)).toEqual([]);
  expect(mail.deliveries(ids[0] ?? '')).toMatchObject([{ state: 'accepted', acceptedAt: clock.time }]);
});

test('letters of another sender are not held up by a lease', () => {
  const { mail } = openMailRoom();
  for (const from of ['A', 'B', 'A']) sent(mail.send(person(from), note(from)));
  expect(seqs(mail.claim(person('MAIN'), { limit: 1, leaseMs: MINUTE }))).toEqual([1]);
  expect(seqs(mail.claim(person('MAIN', 'r', 'other'), LEASE))).toEqual([2]);
});

test('an inbox looks and changes nothing: what is not accepted, oldest first', () => {
  const { mail } = openMailRoom();
  const ids = [1, 2, 3].map(() => sent(mail.send(person('A'), note())));
  mail.claim(person('MAIN'), { limit: 1, leaseMs: MINUTE });
  mail.accept(person('MAIN'), [ids[1] ?? '']);
  expect(mail.inbox(person('MAIN')).map(({ message, state }) => [message.seq, state])).toEqual([
    [1, 'leased'],
    [3, 'waiting'],
  ]);
  expect(mail.inbox(person('MAIN'), 1)).toHaveLength(1);
});

test('nobody accepts what is not theirs, and then nothing of it is accepted', () => {
  const { mail } = openMailRoom();
  const [own, other] = [sent(mail.send(person('A'), note())), sent(mail.send(person('MAIN'), review(['A'])))];
  for (const foreign of [other, 'no-such-id']) {
    expect(refusal(() => mail.accept(person('MAIN'), [own, foreign]))).toBe('usage');
  }
  expect(mail.inbox(person('MAIN'))).toHaveLength(1);
});

test('a pane reads and writes until it is closed, or another one takes its place', () => {
  const room = openMailRoom();
  const { mail } = room;
  const token = mail.issuePaneToken('r', 'a', 'pane-1');
  const first = mail.bearer(token);
  expect(first).toEqual({ by: 'pane', runId: 'r', address: 'A', instance: 'pane-1' });
  const other = pane(room, 'B', 'pane-2');
  expect(mail.send(first ?? other, note())).toMatchObject({ sent: true, message: { agent_instance: 'pane-1' } });
  const second = mail.issuePaneToken('r', 'A', 'pane-3');
  expect(mail.bearer(token)).toBeUndefined();
  expect(mail.send(first ?? other, note())).toMatchObject({ sent: false, refusal: { reason: 'not_authorized' } });
  mail.closePane(second);
  expect(mail.bearer(second)).toBeUndefined();
  expect(mail.send(other, note())).toMatchObject({ sent: true });
  expect(refusal(() => mail.issuePaneToken('r', 'nobody', 'x'))).toBe('usage');
});

test('the ask that is owed an answer: the newest of one thread, a text where there are none or several', () => {
  const { mail, clock } = openMailRoom();
  expect(mail.openAsk(person('MAIN'))).toContain('owes no answer');
  const first = sent(mail.send(person('A'), clarify()));
  const second = sent(mail.send(person('A'), clarify()));
  expect(mail.openAsk(person('MAIN'))).toMatchObject({ message: { id: second } });
  sent(mail.send(person('MAIN'), answer(second)));
  expect(mail.openAsk(person('MAIN'))).toMatchObject({ message: { id: first } });
  const other = sent(mail.send(person('B'), clarify({ task_id: 'T2' })));
  expect(mail.openAsk(person('MAIN'))).toContain(other);
  expect(mail.openAsk(person('MAIN'), 'T2')).toMatchObject({ message: { id: other } });
  expect(mail.openAsk(person('MAIN'), 'T3')).toBe(
    `MAIN owes no answer about task T3; open: ${first} (A, task T1), ${other} (B, task T2)`,
  );
  const handed = sent(
    mail.send(person('MAIN'), assign(['tester'], clock.time + MINUTE, { task_id: 'T4' }, 'hand-off')),
  );
  expect(mail.openAsk(person('T'))).toMatchObject({ message: { id: handed } });
});

test('a note that names a question closes nothing, and leaves it unread', () => {
  const room = openMailRoom();
  const { mail } = room;
  const asked = sent(mail.send(person('A'), clarify()));
  sent(mail.send(person('MAIN'), { ...note('I will look', ['A']), corr: asked }));
  expect(mail.deliveries(asked)).toMatchObject([{ state: 'waiting', answer: null }]);
  const given = sent(mail.send(person('MAIN'), answer(asked)));
  expect(mail.deliveries(asked)).toMatchObject([{ state: 'accepted', answer: given }]);
});

test('an answer closes the ask for whoever gave it; a word in between does not', () => {
  const { mail, clock } = openMailRoom();
  const asked = sent(mail.send(person('MAIN'), review(['A', 'B'])));
  sent(mail.send(person('A'), { ...note(), corr: asked }));
  expect(mail.deliveries(asked).map(({ answer: by }) => by)).toEqual([null, null]);
  const reply = sent(mail.send(person('A'), done(asked)));
  // Whoever answers has read it.
  expect(mail.deliveries(asked).map(({ recipient, state, answer: by }) => [recipient, state, by])).toEqual([
    ['A', 'accepted', reply],
    ['B', 'waiting', null],
  ]);
  expect(mail.replies(asked).map(({ type }) => type)).toEqual(['send', 'done']);
  const assigned = sent(mail.send(person('MAIN'), assign(['A'], clock.time + MINUTE)));
  expect(mail.status('r').tasks).toMatchObject([
    { id: 'F1', status: 'open', owner: 'MAIN', deadline: clock.time + MINUTE },
  ]);
  sent(mail.send(person('A'), done(assigned)));
  expect(mail.status('r').tasks).toMatchObject([{ id: 'F1', status: 'done', lastUpdateSeq: 5 }]);
});

test('a task is verified by the last of those who were asked, and has failed if one of them has a new issue', () => {
  const { mail } = openMailRoom();
  const status = (): unknown => mail.status('r').tasks[0]?.status;
  const verified = (from: string, corr: string, body: object = { has_new_issues: false }): unknown =>
    mail.send(person(from), { to: ['MAIN'], type: 'done', action: 'verified', corr, body: JSON.stringify(body) });
  const first = sent(mail.send(person('MAIN'), verify(['A', 'B'])));
  expect(status()).toBe('verify_pending');
  verified('A', first);
  expect(status()).toBe('verify_pending');
  verified('B', first, { has_new_issues: true, new_issue_count: 1, padding: 'x'.repeat(5000) });
  expect(status()).toBe('failed');
  const second = sent(mail.send(person('MAIN'), verify(['A', 'B'])));
  verified('A', second);
  const feedback = { doc_path: 'docs/design.md', has_issues: false, issues: [], summary: 'well' };
  const report = {
    to: ['MAIN'],
    type: 'report',
    action: 'review_feedback',
    corr: second,
    body: JSON.stringify(feedback),
  };
  sent(mail.send(person('B'), report));
  expect(status()).toBe('verified');
});

test('status: who is there, what is unread and since when, what is owed and what was given up', () => {
  const { mail, clock } = openMailRoom();
  sent(mail.send(person('A'), note()));
  const asked = sent(mail.send(person('MAIN'), review(['B'], { ttl_ms: 10_000 })));
  clock.time += 5_000;
  sent(mail.send(person('A'), note()));
  mail.beat(person('A'));
  const { members, unanswered, counts } = mail.status('r');
  expect(members.map((member) => [member.address, member.online, member.unread, member.oldestUnread])).toEqual([
    ['MAIN', false, 2, 1_000_000],
    ['A', true, 0, null],
    ['B', false, 1, 1_000_000],
    ['T', false, 0, null],
  ]);
  expect(unanswered.map(({ message, recipient }) => [message.id, recipient])).toEqual([[asked, 'B']]);
  expect(counts).toEqual({ messages: 3, unread: 3, dead: 0, refused: 0 });
  clock.time += 5_000;
  mail.tick('r');
  expect(mail.status('r').dead.map(({ message, lastError }) => [message.id, lastError])).toEqual([
    [asked, 'its time to live is over'],
  ]);
  expect(mail.status('r').members[1]?.online).toBe(true);
  clock.time += MINUTE;
  expect(mail.status('r').members[1]?.online).toBe(false);
});

test('the agent of a live turn is online before its CLI has started the mail server, and not after its turn', () => {
  const room = openMailRoom();
  const online = (): string[] => room.mail.status('r').members.flatMap((one) => (one.online ? [one.address] : []));
  expect(online()).toEqual([]);
  room.turn('a-1', 'a');
  room.clock.time += 5 * MINUTE;
  expect(online()).toEqual(['A']);
  room.settle('a-1');
  expect(online()).toEqual([]);
});

test('a reader registers with who and where it is, which is its first beat and shows in the trace', () => {
  const room = openMailRoom();
  const { mail, clock } = room;
  room.turn('a-1', 'a');
  room.settle('a-1');
  room.turn('a-2', 'a');
  mail.register(turnOf('A', 'a-2'));
  mail.register(person('MAIN'), { windowName: 'team-1-MAIN' });
  const { id: session, epoch } = mail.session('r');
  const meta = { session, epoch, ts: clock.time };
  expect([...mail.trace({ runId: 'r' })]).toEqual([
    { event: 'presence', agent: 'A-02', meta: { ...meta, role: 'A', window_name: null } },
    { event: 'presence', agent: 'MAIN-somebody', meta: { ...meta, role: 'MAIN', window_name: 'team-1-MAIN' } },
  ]);
  expect(mail.status('r').members[0]).toMatchObject({ address: 'MAIN', online: true });
  expect(mail.send(turnOf('A', 'a-2'), note())).toMatchObject({ message: { agent_instance: 'A-02' } });
});

test('a trace tells all in the order in which it happened, of one run, task or moment on', () => {
  const room = openMailRoom();
  const { mail } = room;
  const first = sent(mail.send(person('MAIN'), review(['A', 'B'])));
  const second = sent(mail.send(person('A'), clarify()));
  mail.accept(person('A'), [first]);
  const told = (where: Parameters<typeof mail.trace>[0]): unknown[] =>
    [...mail.trace(where)].map((line) =>
      line.event === 'message' ? line.message.id : line.event === 'ack' ? [line.ack, line.id, line.agent] : line.event,
    );
  const all = [
    first,
    ['delivered', first, 'A'],
    ['delivered', first, 'B'],
    second,
    ['delivered', second, 'MAIN'],
    ['accepted', first, 'A'],
  ];
  expect(told({})).toEqual(all);
  expect(told({ runId: 'r', afterSeq: 1 })).toEqual(all.slice(3, 5));
  expect(told({ task: 'T1' })).toEqual(all.slice(3, 5));
  expect(told({ runId: 's' })).toEqual([]);
  // More than one page of it.
  for (let count = 0; count < 600; count += 1) sent(mail.send(person('A'), note()));
  expect(told({})).toHaveLength(6 + 1_200);
  expect(violations(room.path)).toEqual([]);
});

test('a turn that is over reads no more', () => {
  const room = openMailRoom();
  room.turn('a-1', 'a');
  sent(room.mail.send(person('MAIN'), review(['A'])));
  expect(seqs(room.mail.inbox(turnOf('A', 'a-1')))).toEqual([1]);
  room.settle('a-1');
  for (const read of ['inbox', 'openAsk', 'beat'] as const) {
    expect(refusal(() => room.mail[read](turnOf('A', 'a-1')))).toBe('usage');
  }
  expect(refusal(() => room.mail.claim(turnOf('A', 'a-1'), LEASE))).toBe('usage');
  // Nor does a turn of another agent, whatever it calls itself.
  room.turn('b-1', 'b');
  expect(refusal(() => room.mail.inbox(turnOf('A', 'b-1')))).toBe('usage');
});
