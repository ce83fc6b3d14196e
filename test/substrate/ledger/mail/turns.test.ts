import { expect, test } from 'vitest';
import type { EngineMail } from '../../../../src/substrate/ports/mailbox.ts';
import { checkDatabase, exportLedger } from '../../../../src/substrate/ledger/index.ts';
import { claim, decide, refusal, result, violations } from '../support.ts';
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
  type MailRoom,
} from './support.ts';

const HANDOFF = 'hand-off';

function states(room: MailRoom, id: string): unknown[] {
  return room.mail.deliveries(id).map(({ recipient, state }) => [recipient, state]);
}

/** What MAIN has asked of A, and what A's turn says: what changes the plan, and what does not. */
function spoken(room: MailRoom) {
  const { mail, clock } = room;
  const assigned = sent(mail.send(person('MAIN'), assign(['A'], clock.time + 60 * MINUTE)));
  room.turn('a-1', 'a');
  const [question, finished, said] = [
    sent(mail.send(turnOf('A', 'a-1'), clarify())),
    sent(mail.send(turnOf('A', 'a-1'), done(assigned))),
    sent(mail.send(turnOf('A', 'a-1'), note())),
  ];
  return { assigned, question, finished, said };
}

test('what changes the plan is held by its turn: nobody sees it, and nothing follows from it yet', () => {
  const room = openMailRoom();
  const { assigned, question, finished, said } = spoken(room);
  const { mail } = room;
  expect(mail.inbox(person('MAIN')).map(({ message }) => message.id)).toEqual([question, said]);
  expect(mail.unreadOf('r', ['MAIN'], 9).map(({ message }) => message.id)).toEqual([question, said]);
  expect(refusal(() => mail.accept(person('MAIN'), [finished]))).toBe('usage');
  expect(states(room, finished)).toEqual([['MAIN', 'waiting']]);
  expect(mail.deliveries(assigned)[0]?.answer).toBeNull();
  expect(mail.status('r').tasks).toMatchObject([{ status: 'open' }]);
  expect(mail.sentBy('a-1').map(({ id }) => id)).toEqual([question, finished, said]);
  expect(mail.deferredBy('a-1').map(({ id }) => id)).toEqual([finished]);
  expect([...mail.trace({})].flatMap((line) => (line.event === 'message' ? [line.held] : []))).toEqual([
    null,
    null,
    'a-1',
    null,
  ]);
  const events = room.ledger.events({ stream: 'r' }).filter(({ type }) => type === 'mail-sent');
  expect(events.map(({ data }) => (data as { held: unknown }).held)).toEqual([null, null, 'a-1', null]);
  // Nobody can reply to what nobody sees.
  expect(mail.send(person('B'), { ...note(), corr: finished })).toMatchObject({
    sent: false,
    refusal: { field: 'corr' },
  });
});

test('once its turn has completed it takes effect', () => {
  const room = openMailRoom();
  const { assigned, finished } = spoken(room);
  room.settle('a-1');
  expect(room.mail.inbox(person('MAIN')).map(({ message }) => message.type)).toEqual(['ask', 'done', 'send']);
  expect(room.mail.deliveries(assigned)[0]?.answer).toBe(finished);
  expect(room.mail.status('r').tasks).toMatchObject([{ status: 'done' }]);
  expect(room.mail.deferredBy('a-1').map(({ id }) => id)).toEqual([finished]);
  room.mail.accept(person('MAIN'), [finished]);
  expect(violations(room.path)).toEqual([]);
});

test('an answer that promises a document is seen by nobody, also once its turn has completed: squad answers in its place', () => {
  const room = openMailRoom();
  const { mail } = room;
  const asked = sent(mail.send(person('MAIN'), clarify({ to: ['A'] })));
  room.turn('a-1', 'a');
  const promise = sent(mail.send(turnOf('A', 'a-1'), answer(asked, ['MAIN'])));
  room.settle('a-1');
  expect(states(room, promise)).toEqual([['MAIN', 'void']]);
  expect(mail.inbox(person('MAIN')).map(({ message }) => message.id)).not.toContain(promise);
  expect(mail.deliveries(asked)[0]?.answer).toBeNull();
  expect(mail.deferredBy('a-1').map(({ id }) => id)).toEqual([promise]);
  const notes = [...mail.trace({})].flatMap((line) => (line.event === 'void' ? [line.note] : []));
  expect(notes).toEqual([expect.stringContaining('squad answers in its place')]);
  expect(violations(room.path)).toEqual([]);
});

test('of a turn that did not complete it is void, for ever; what was only said stays said', () => {
  const room = openMailRoom();
  const { assigned, question, finished, said } = spoken(room);
  room.settle('a-1', 'failed');
  const { mail } = room;
  expect(states(room, finished)).toEqual([['MAIN', 'void']]);
  expect(mail.inbox(person('MAIN')).map(({ message }) => message.id)).toEqual([question, said]);
  expect(refusal(() => mail.accept(person('MAIN'), [finished]))).toBe('usage');
  expect(mail.deliveries(assigned)[0]?.answer).toBeNull();
  expect(mail.status('r').tasks).toMatchObject([{ status: 'open' }]);
  expect([...mail.trace({})].at(-1)).toMatchObject({ event: 'void', id: finished, agent: 'MAIN' });
  room.clock.time += 30 * 24 * 60 * MINUTE;
  room.mail.tick('r');
  expect(states(room, finished)).toEqual([['MAIN', 'void']]);
  expect(violations(room.path)).toEqual([]);
});

test('an assignment that a turn hands out has its clocks from the turn’s end on', () => {
  const room = openMailRoom();
  const { mail, clock } = room;
  room.turn('m-1', 'main');
  const assigned = sent(mail.send(turnOf('MAIN', 'm-1'), assign(['A'], clock.time + 500 * MINUTE, { ttl_ms: MINUTE })));
  clock.time += 300 * MINUTE;
  mail.tick('r');
  expect(states(room, assigned)).toEqual([['A', 'waiting']]);
  expect(mail.status('r').tasks).toEqual([]);
  room.settle('m-1');
  expect(mail.tick('r')).toBe(0);
  expect(mail.inbox(person('A'))).toMatchObject([{ message: { id: assigned }, answerDue: 1_000_000 + 500 * MINUTE }]);
  expect(mail.status('r').tasks).toMatchObject([{ id: 'F1', status: 'open' }]);
});

test('a token speaks for one turn, by its hash alone, and dies with it', () => {
  const room = openMailRoom();
  const { mail, lease } = room;
  room.turn('a-1', 'a');
  room.turn('b-1', 'b');
  const first = mail.issueTurnToken(lease, 'a-1');
  const token = mail.issueTurnToken(lease, 'a-1');
  expect(token).toMatch(/^[0-9a-f]{64}$/);
  expect(mail.bearer(first)).toBeUndefined();
  expect(mail.bearer(token)).toEqual(turnOf('A', 'a-1'));
  // A turn that outlives its engine keeps its voice.
  room.ledger.acquireLease('r', 'another engine');
  expect(mail.bearer(token)).toEqual(turnOf('A', 'a-1'));
  expect(refusal(() => mail.issueTurnToken(lease, 'b-1'))).toBe('lease-fenced');
});

test('after its end a turn says nothing more, and the try is on record', () => {
  const room = openMailRoom();
  const { mail, lease, ledger } = room;
  room.turn('a-1', 'a');
  const token = mail.issueTurnToken(lease, 'a-1');
  room.settle('a-1');
  expect(mail.bearer(token)).toBeUndefined();
  const tokens = [...exportLedger(room.path, 'r')].filter((line) => line.includes('"row":"mail-token"'));
  expect(tokens.map((line) => (JSON.parse(line) as { endedAt: unknown }).endedAt)).toEqual([room.clock.time]);
  expect(ledger.events({ stream: 'workspace' })).toMatchObject([
    { type: 'mail-refused', data: { by: 'token', address: null, reason: 'not_authorized', field: 'token' } },
  ]);
  expect(mail.send(turnOf('A', 'a-1'), note(), 'late')).toMatchObject({
    sent: false,
    refusal: { reason: 'not_authorized', field: '' },
  });
  expect(refusal(() => mail.issueTurnToken(lease, 'a-1'))).toBe('unknown-attempt');
  const unknown = claim('x-1', 'x');
  decide(room, unknown);
  expect(refusal(() => mail.issueTurnToken(lease, 'x-1'))).toBe('usage');
});

test('letters in a turn’s prompt are with it until it ends: read when it completes, waiting again when it does not', () => {
  const room = openMailRoom();
  const { mail, ledger, lease } = room;
  const ids = [1, 2, 3].map(() => sent(mail.send(person('MAIN'), review(['A']))));
  const letters = mail.unreadOf('r', ['A'], 2);
  expect(letters.map(({ message }) => message.id)).toEqual(ids.slice(0, 2));
  const mailOf = letters.map(({ message, recipient }) => ({ id: message.id, recipient }));
  room.turn('a-1', 'a', mailOf);
  // The third is of the same sender, and waits for the others.
  expect(mail.unreadOf('r', ['A'], 9)).toEqual([]);
  expect(mail.claim(person('A'), { limit: 9, leaseMs: 1 })).toEqual([]);
  expect(mail.claim(turnOf('A', 'a-1'), { limit: 9, leaseMs: MINUTE }).map(({ message }) => message.id)).toEqual([
    ids[2],
  ]);
  ledger.settle(
    lease,
    'a-1',
    result({ outcome: 'failed', failure: { kind: 'crashed', message: 'x', mayHaveActed: true } }),
  );
  expect(ids.flatMap((id) => states(room, id))).toEqual(ids.map(() => ['A', 'waiting']));
  room.turn('a-2', 'a', mailOf);
  mail.accept(turnOf('A', 'a-2'), [ids[0] ?? '']);
  room.settle('a-2');
  expect(ids.flatMap((id) => states(room, id))).toEqual([
    ['A', 'accepted'],
    ['A', 'accepted'],
    ['A', 'waiting'],
  ]);
  expect(violations(room.path)).toEqual([]);
});

test('a letter to a role is read by the turn that has it in its prompt', () => {
  const room = openMailRoom();
  const { mail, clock } = room;
  const handed = sent(mail.send(person('MAIN'), assign(['tester'], clock.time + MINUTE, {}, HANDOFF)));
  expect(mail.inbox(person('T'))).toEqual([]);
  const [letter] = mail.unreadOf('r', ['T', 'tester'], 9);
  expect(letter).toMatchObject({ recipient: 'tester', message: { id: handed } });
  room.turn('t-1', 'tess', [{ id: handed, recipient: 'tester' }]);
  expect(mail.accept(turnOf('T', 't-1'), [handed])).toEqual([handed]);
  const reply = sent(mail.send(turnOf('T', 't-1'), done(handed)));
  room.settle('t-1');
  expect(mail.deliveries(handed)).toMatchObject([{ recipient: 'tester', state: 'accepted', answer: reply }]);
});

test('letters of a claim that was refused, or that were read meanwhile, are left as they are', () => {
  const room = openMailRoom();
  const { mail } = room;
  const ids = [1, 2].map(() => sent(mail.send(person('MAIN'), review(['A']))));
  const letters = ids.map((id) => ({ id, recipient: 'A' }));
  mail.accept(person('A'), [ids[0] ?? '']);
  const refused = claim('a-1', 'a', { limits: { turns: 0 } });
  decide(room, refused, { do: 'hand-mail', attemptId: 'a-1', mail: letters });
  expect(ids.flatMap((id) => states(room, id))).toEqual([
    ['A', 'accepted'],
    ['A', 'waiting'],
  ]);
  room.turn('a-2', 'a', letters);
  expect(ids.flatMap((id) => states(room, id))).toEqual([
    ['A', 'accepted'],
    ['A', 'leased'],
  ]);
});

test('the engine sends in the name of a member, in its own step, once for a key; a refusal does not stop the step', () => {
  const room = openMailRoom();
  const { mail, ledger, lease } = room;
  const asked = sent(mail.send(person('A'), clarify()));
  const reply: EngineMail = {
    from: 'MAIN',
    to: ['A'],
    type: 'send',
    action: 'answer',
    corr: asked,
    body: { text: 'so', doc_updated: true },
  };
  const seq = ledger.append('r', 'poke', null);
  const step = {
    lease,
    cursor: ledger.run('r')?.applied ?? 0,
    seq,
    driver: 'd',
    decisions: [
      { do: 'send-mail' as const, key: 'answer-1', mail: reply },
      { do: 'send-mail' as const, key: 'forged', mail: { ...reply, from: 'nobody' } },
      { do: 'send-mail' as const, key: 'wrong', mail: { ...reply, body: {} } },
      {
        do: 'send-mail' as const,
        key: 'follow-up',
        mail: {
          from: 'MAIN',
          to: ['A'],
          type: 'ask' as const,
          action: 'review' as const,
          task: 'DOC',
          corrKey: 'answer-1',
          body: { doc_path: 'd' },
        },
      },
      { do: 'send-mail' as const, key: 'lost', mail: { ...reply, corrKey: 'no-such-key' } },
      { do: 'record' as const, type: 'noted', data: 1 },
    ],
  };
  ledger.apply(step);
  expect(ledger.apply(step).repeated).toBe(true);
  decide(room, { do: 'send-mail', key: 'answer-1', mail: reply });
  const caused = ledger.events({ stream: 'r', after: seq }).filter(({ cause }) => cause === seq);
  expect(caused.map(({ type, epoch }) => [type, epoch])).toEqual([
    ['mail-sent', 1],
    ['mail-refused', 1],
    ['mail-refused', 1],
    ['mail-sent', 1],
    ['mail-refused', 1],
    ['noted', 1],
  ]);
  const [letter, review2] = mail.inbox(person('A'));
  expect(letter).toMatchObject({ message: { from: 'MAIN', agent_instance: 'MAIN-engine', corr: asked } });
  expect(review2?.message.corr).toBe(letter?.message.id);
  expect(mail.originOf(letter?.message.id ?? '')).toEqual({ attemptId: null, key: 'answer-1' });
  expect(mail.originOf(asked)).toEqual({ attemptId: null, key: null });
  expect(mail.deliveries(asked)).toMatchObject([{ answer: letter?.message.id }]);
  expect(mail.inbox(person('A'))).toHaveLength(2);
  expect(checkDatabase(room.path)).toMatchObject({ ok: true, problems: [], violations: [] });
});

test('who was told by a turn can be told from the message', () => {
  const room = openMailRoom();
  room.turn('a-1', 'a');
  const said = sent(room.mail.send(turnOf('A', 'a-1'), note(), 'own key'));
  expect(room.mail.originOf(said)).toEqual({ attemptId: 'a-1', key: null });
  expect(room.mail.originOf('no-such')).toBeUndefined();
  const asked = sent(room.mail.send(turnOf('A', 'a-1'), clarify()));
  room.turn('m-1', 'main');
  const answered = sent(room.mail.send(turnOf('MAIN', 'm-1'), answer(asked)));
  expect(room.mail.deferredBy('m-1').map(({ id }) => id)).toEqual([answered]);
});

test('what the engine refuses waits for no answer, and an assignment of it is not overdue later', () => {
  const room = openMailRoom();
  const { mail } = room;
  const question = sent(mail.send(person('A'), clarify()));
  const order = sent(mail.send(person('MAIN'), assign(['A'], room.clock.time + MINUTE)));
  const both = sent(mail.send(person('MAIN'), assign(['A', 'B'], room.clock.time + MINUTE, { task_id: 'F2' })));
  const refuse = (key: string, corr: string, to: string) => {
    const body = { reason: 'no', blocked_by: [] };
    decide(room, { do: 'send-mail', key, mail: { from: 'ROUTER', to: [to], type: 'fail', corr, body } });
  };
  refuse('one', question, 'A');
  refuse('two', order, 'MAIN');
  refuse('three', both, 'MAIN');
  expect(mail.status('r').unanswered).toEqual([]);
  expect(mail.status('r').tasks.map(({ id, status }) => `${id} ${status}`)).toEqual(['F2 open', 'F1 failed']);
  expect(violations(room.path)).toEqual([]);
});
