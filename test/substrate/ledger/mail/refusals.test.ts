import { describe, expect, test } from 'vitest';
import type { MailParty, SendAnswer } from '../../../../src/substrate/ports/mailbox.ts';
import type { MailRefusal } from '../../../../src/model/mail/refusal.ts';
import { claim, decide, openBench, squadError } from '../support.ts';
import {
  assign,
  done,
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

// Each refusal with its reason, its field and its sentence, because senders read nothing else.

function refusalOf(answered: SendAnswer): MailRefusal | undefined {
  return answered.sent ? undefined : answered.refusal;
}

function paneOf({ mail }: MailRoom, address: string, name = 'window'): MailParty {
  return mail.bearer(mail.issuePaneToken('r', address, name)) ?? person('nobody');
}

const SECRET = `ghp_${'a1B2'.repeat(9)}`;
const NO_MEMBER = { reason: 'not_authorized', field: '', rule: 'this run has no such member' };
const TURN_OVER = { reason: 'not_authorized', field: '', rule: 'the turn of this sender is over' };
const PANE_CLOSED = { reason: 'not_authorized', field: '', rule: 'the pane of this sender is closed' };
const ENDED = {
  reason: 'not_authorized',
  field: '',
  rule: 'comes after the end of the run was decided, so no agent reads it; `squad retry TASK` opens a run again that is over',
};
const NO_SUCH = { reason: 'invalid_format', field: 'corr', rule: 'must be the id of a message that was sent' };

test.each<[string, (room: MailRoom) => SendAnswer, unknown]>([
  [
    'an empty key',
    ({ mail }) => mail.send(person('A'), note(), ''),
    { reason: 'invalid_format', field: 'key', rule: 'has 1 to 200 characters' },
  ],
  [
    'a key of 201 characters',
    ({ mail }) => mail.send(person('A'), note(), 'k'.repeat(201)),
    { reason: 'invalid_format', field: 'key', rule: 'has 1 to 200 characters' },
  ],
  ['no key of 200 characters', ({ mail }) => mail.send(person('A'), note(), 'k'.repeat(200)), undefined],
  [
    'a key that holds a secret',
    ({ mail }) => mail.send(person('A'), note(), `key ${SECRET}`),
    { reason: 'invalid_format', field: 'key', rule: 'holds no secret' },
  ],
  ['someone who is no member', ({ mail }) => mail.send(person('X'), note()), NO_MEMBER],
  ['a turn that never was', ({ mail }) => mail.send(turnOf('A', 'a-9'), note()), TURN_OVER],
  [
    'a turn that is settled',
    (room) => {
      room.turn('a-1', 'a');
      room.settle('a-1');
      return room.mail.send(turnOf('A', 'a-1'), note());
    },
    TURN_OVER,
  ],
  [
    'a turn of another agent',
    (room) => {
      room.turn('b-1', 'b');
      return room.mail.send(turnOf('A', 'b-1'), note());
    },
    TURN_OVER,
  ],
  [
    'a turn of another run',
    (room) => {
      room.turn('a-1', 'a');
      room.ledger.createRun({ id: 's', name: 'second' });
      room.mail.open(room.ledger.acquireLease('s', 'x'), POLICY);
      return room.mail.send({ ...turnOf('A', 'a-1'), runId: 's' }, note());
    },
    TURN_OVER,
  ],
  [
    'no turn that has a process',
    (room) => {
      room.turn('a-1', 'a');
      const identity = { pid: 7, startTime: '1', bootId: 'b', marker: 'a-1' };
      room.ledger.markSpawned(room.lease, 'a-1', identity, room.clock.time);
      return room.mail.send(turnOf('A', 'a-1'), note());
    },
    undefined,
  ],
  [
    'a pane that was never opened',
    ({ mail }) => mail.send({ by: 'pane', runId: 'r', address: 'A', instance: 'x' }, note()),
    PANE_CLOSED,
  ],
  [
    'a pane that is closed',
    (room) => {
      const token = room.mail.issuePaneToken('r', 'A', 'window');
      const pane = room.mail.bearer(token) ?? person('nobody');
      room.mail.closePane(token);
      return room.mail.send(pane, note());
    },
    PANE_CLOSED,
  ],
  [
    'a person, once the end of the run was decided',
    ({ mail, lease, ledger }) => {
      mail.finish(lease, ledger.lastSeq());
      return mail.send(person('A'), note());
    },
    ENDED,
  ],
  [
    'no turn that is live then',
    (room) => {
      room.turn('a-1', 'a');
      room.mail.finish(room.lease, room.ledger.lastSeq());
      return room.mail.send(turnOf('A', 'a-1'), note());
    },
    undefined,
  ],
  ...(['retry', 'skip', 'override'] as const).map((verb): [string, (room: MailRoom) => SendAnswer, unknown] => [
    `no one, once a person's ${verb} has opened it again`,
    ({ mail, lease, ledger }) => {
      mail.finish(lease, ledger.lastSeq());
      ledger.command('r', verb, { task: 't' }, 'dana');
      return mail.send(person('A'), note());
    },
    undefined,
  ]),
  [
    'a person, after another command',
    ({ mail, lease, ledger }) => {
      mail.finish(lease, ledger.lastSeq());
      ledger.command('r', 'pause', {}, 'dana');
      return mail.send(person('A'), note());
    },
    ENDED,
  ],
  ['an answer to no message', ({ mail }) => mail.send(person('A'), done('no-such-id')), NO_SUCH],
  [
    'an answer to a message of another run',
    ({ mail, ledger }) => {
      ledger.createRun({ id: 's', name: 'second' });
      mail.open(ledger.acquireLease('s', 'x'), POLICY);
      const asked = sent(mail.send(person('MAIN', 's'), review(['A'])));
      return mail.send(person('A'), done(asked));
    },
    NO_SUCH,
  ],
  [
    "an answer to another's message that its turn still holds",
    (room) => {
      room.turn('m-1', 'main');
      const held = sent(room.mail.send(turnOf('MAIN', 'm-1'), assign(['A'], room.clock.time + MINUTE)));
      return room.mail.send(person('A'), done(held));
    },
    NO_SUCH,
  ],
  [
    'no reply to a message of its own that its turn still holds',
    (room) => {
      room.turn('m-1', 'main');
      const held = sent(room.mail.send(turnOf('MAIN', 'm-1'), assign(['A'], room.clock.time + MINUTE)));
      return room.mail.send(turnOf('MAIN', 'm-1'), { ...note('so', ['A']), corr: held });
    },
    undefined,
  ],
])('refuses %s', (_, act, refusal) => {
  const room = openMailRoom();
  const before = room.mail.status('r').counts;
  expect(refusalOf(act(room))).toEqual(refusal);
  if (refusal === undefined) return;
  const last = room.ledger.events({}).at(-1);
  expect(last).toMatchObject({ type: 'mail-refused', data: refusal });
  expect(room.mail.status('r').counts.refused).toBe(last?.stream === 'r' ? before.refused + 1 : before.refused);
});

test('a refusal is on record with who it was, and a token that speaks for no one on the stream of the workspace', () => {
  const room = openMailRoom();
  room.turn('a-1', 'a');
  room.settle('a-1');
  const pane = paneOf(room, 'B');
  room.mail.issuePaneToken('r', 'B', 'other');
  room.mail.send(person('X'), note());
  room.mail.send(turnOf('A', 'a-1'), note());
  room.mail.send(pane, note());
  room.mail.refuse(person('A'), { reason: 'invalid_format', field: 'flags', rule: `knows no ${SECRET}` });
  room.mail.bearer('nothing');
  const refused = room.ledger.events({}).filter(({ type }) => type === 'mail-refused');
  expect(refused.map(({ stream, cause, epoch, data }) => ({ stream, cause, epoch, data }))).toEqual(
    [
      { stream: 'r', data: { by: 'person', address: 'X', ...NO_MEMBER } },
      { stream: 'r', data: { by: 'turn', address: 'A', ...TURN_OVER } },
      { stream: 'r', data: { by: 'pane', address: 'B', ...PANE_CLOSED } },
      {
        stream: 'r',
        data: {
          ...{ by: 'person', address: 'A', reason: 'invalid_format', field: 'flags' },
          rule: expect.not.stringContaining(SECRET) as string,
        },
      },
      {
        stream: 'workspace',
        data: {
          ...{ by: 'token', address: null, reason: 'not_authorized', field: 'token' },
          rule: 'is the token of a turn that runs, or of an open pane',
        },
      },
    ].map((one) => ({ cause: null, epoch: null, ...one })),
  );
});

describe('what the engine sends in the name of a member', () => {
  const report = { from: 'MAIN', to: ['A'], type: 'send', body: { text: 'so' } } as const;
  const refusedBy = (room: Parameters<typeof decide>[0], more: object) => {
    decide(room, { do: 'send-mail', key: 'k', mail: { ...report, to: [...report.to], ...more } });
    return room.ledger
      .events({ stream: 'r' })
      .filter(({ type }) => type.startsWith('mail-'))
      .at(-1);
  };
  const NOT_FROM = { reason: 'not_authorized', field: 'from', rule: 'is a member of this run' };

  test.each<[string, object, object]>([
    ['is refused from someone who is no member', { from: 'X' }, { address: 'X', ...NOT_FROM }],
    [
      'is refused as a reply to a key that was not used',
      { corrKey: 'other' },
      { address: 'MAIN', reason: 'invalid_format', field: 'corr', rule: 'is the id of a message that was sent' },
    ],
    ['is refused as a reply to an unknown id', { corr: 'none' }, { address: 'MAIN', ...NO_SUCH }],
  ])('%s', (_, more, data) => {
    const room = openMailRoom();
    expect(refusedBy(room, more)).toMatchObject({
      ...{ type: 'mail-refused', cause: room.ledger.lastSeq() - 1, epoch: 1 },
      data: { by: 'engine', ...data },
    });
    expect(room.mail.status('r').counts).toEqual({ messages: 0, unread: 0, dead: 0, refused: 1 });
  });

  test.each(['MAIN', 'ROUTER'])('is refused from %s in a run without a mailbox', (from) => {
    expect(refusedBy(openBench(), { from })).toMatchObject({
      type: 'mail-refused',
      data: { by: 'engine', address: from, ...NOT_FROM },
    });
  });

  test('needs no permission of that member', () => {
    const room = openMailRoom();
    const body = { doc_path: 'docs/design.md', focus: ['func'] };
    const mail = { from: 'A', to: ['B', 'tester'], type: 'ask', action: 'review', task: 'DOC', body } as const;
    decide(room, { do: 'send-mail', key: 'k', mail: { ...mail, to: ['B'] } });
    expect(room.mail.inbox(person('B'))).toMatchObject([
      { message: { from: 'A', agent_instance: 'A-engine', task_id: 'DOC', owner: 'A', action: 'review' } },
    ]);
  });
});

test.each<[string, (room: MailRoom) => unknown, { code: string; message: string; next: string }]>([
  [
    'to read as a turn that is over',
    ({ mail }) => mail.inbox(turnOf('A', 'a-1')),
    {
      code: 'usage',
      message: 'The mail of A cannot be read: the turn of this sender is over.',
      next: 'A person at this machine can read it: `squad mail inbox`.',
    },
  ],
  [
    'to accept what is not there',
    ({ mail }) => mail.accept(person('MAIN'), ['x'.repeat(200)]),
    {
      code: 'usage',
      message: `MAIN has no message "${'x'.repeat(130)}".`,
      next: 'List the messages: `squad mail inbox --as MAIN`.',
    },
  ],
  [
    'to open the mailbox with another policy',
    ({ mail, lease }) => mail.open(lease, { ...POLICY, ttlMs: 1 }),
    {
      code: 'bad-input',
      message: 'The mailbox of run r is open, and its rules for who may write to whom cannot change.',
      next: 'Start a new run for another team.',
    },
  ],
  [
    'a token for a turn that is settled',
    (room) => {
      room.turn('a-1', 'a');
      room.settle('a-1');
      return room.mail.issueTurnToken(room.lease, 'a-1');
    },
    { code: 'unknown-attempt', message: 'Attempt a-1 is settled, so it gets no token.', next: undefined as never },
  ],
  [
    'a token for a turn of an agent that is no member',
    (room) => {
      decide(room, claim('x-1', 'x'));
      return room.mail.issueTurnToken(room.lease, 'x-1');
    },
    {
      code: 'usage',
      message: 'builder is not a member of the mailbox of run r.',
      next: 'List the members: `squad mail status r`.',
    },
  ],
  [
    'a pane for someone who is no member',
    ({ mail }) => mail.issuePaneToken('r', 'X', 'window'),
    {
      code: 'usage',
      message: 'X is not a member of the mailbox of run r.',
      next: 'List the members: `squad mail status r`.',
    },
  ],
])('squad refuses %s', (_, act, error) => {
  const { code, message, next } = squadError(() => act(openMailRoom()));
  expect({ code, message, next }).toEqual(error);
});

test.each<[string, (room: ReturnType<typeof openBench>) => unknown]>([
  ['its session', ({ ledger }) => ledger.mail.session('r')],
  ['its status', ({ ledger }) => ledger.mail.status('r')],
  ['a message', ({ ledger }) => ledger.mail.send(person('A'), note())],
  ['a pane', ({ ledger }) => ledger.mail.issuePaneToken('r', 'A', 'window')],
])('a run without a mailbox says so of %s', (_, act) => {
  const { code, message, next } = squadError(() => act(openBench()));
  expect({ code, message, next }).toEqual({
    code: 'usage',
    message: 'Run r has no mailbox.',
    next: 'An engine opens it: `squad resume r`.',
  });
});
