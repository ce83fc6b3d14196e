import { expect, test } from 'vitest';
import type { MailParty } from '../../../../src/substrate/ports/mailbox.ts';
import { decide } from '../support.ts';
import { clarify, done, openMailRoom, person, review, sent, turnOf, verify, type MailRoom } from './support.ts';

function reply(corr: string, body: object = { text: 'so', reason: 'it is clear' }) {
  return { to: ['A'], type: 'send', action: 'answer', corr, body: JSON.stringify(body) } as const;
}

const verified = (corr: string) => ({
  ...{ to: ['MAIN'], type: 'done', action: 'verified', corr },
  body: JSON.stringify({ has_new_issues: false }),
});

const fail = (corr: string, to: string) => ({ to: [to], type: 'fail', corr, body: '{"reason":"no","blocked_by":[]}' });

/** What the refusal names: the field, and the number of the answer that there is. */
function refusedAs({ mail }: MailRoom, party: MailParty, draft: unknown): string {
  const answer = mail.send(party, draft);
  if (answer.sent) return 'sent';
  const { reason, field, rule } = answer.refusal;
  return `${reason} ${field} ${rule}`;
}

test('a question has one answer of each who is asked: a second one is refused, and names the first', () => {
  const room = openMailRoom();
  const { mail } = room;
  const asked = sent(mail.send(person('A'), clarify()));
  sent(mail.send(person('MAIN'), reply(asked)));
  const rule = 'invalid_format corr is a question that MAIN has answered, with #2; to add something, use `send`';
  expect(refusedAs(room, person('MAIN'), reply(asked))).toBe(rule);
  expect(refusedAs(room, person('MAIN'), fail(asked, 'A'))).toBe(rule);
  const note = { to: ['A'], type: 'send', body: '{"text":"and another thing"}' };
  expect(refusedAs(room, person('MAIN'), note)).toBe('sent');
  expect(mail.replies(asked)).toHaveLength(1);
});

test('an answer that waits for the end of its turn is one, and one of a turn that was lost is none', () => {
  const room = openMailRoom();
  const { mail } = room;
  const asked = sent(mail.send(person('A'), clarify()));
  room.turn('t1', 'main');
  sent(mail.send(turnOf('MAIN', 't1'), reply(asked)));
  expect(refusedAs(room, turnOf('MAIN', 't1'), reply(asked))).toContain('that MAIN has answered, with #2');
  room.settle('t1', 'failed');
  expect(refusedAs(room, person('MAIN'), reply(asked))).toBe('sent');
});

test('each recipient of a verify answers once, reports may follow each other, and others are not corrected either', () => {
  const room = openMailRoom();
  const { mail } = room;
  const asked = sent(mail.send(person('MAIN'), verify(['A', 'B'])));
  expect(refusedAs(room, person('A'), verified(asked))).toBe('sent');
  expect(refusedAs(room, person('A'), verified(asked))).toContain('that A has answered, with #2');
  const feedback = { doc_path: 'docs/design.md', has_issues: false, issues: [], summary: 'well' };
  const report = { to: ['MAIN'], type: 'report', corr: asked, body: JSON.stringify(feedback) };
  expect(refusedAs(room, person('B'), report)).toBe('sent');
  expect(refusedAs(room, person('B'), verified(asked))).toBe('sent');
  const looked = sent(mail.send(person('MAIN'), review(['A'])));
  expect(refusedAs(room, person('A'), done(looked))).toBe('sent');
  expect(refusedAs(room, person('A'), done(looked))).toBe('sent');
});

test('what a role is asked is answered once by all of it', () => {
  const room = openMailRoom();
  const { mail } = room;
  const asked = sent(mail.send(person('MAIN'), clarify({ to: ['tester'] })));
  expect(refusedAs(room, person('T'), { ...reply(asked), to: ['MAIN'] })).toBe('sent');
  expect(refusedAs(room, person('T'), { ...reply(asked), to: ['MAIN'] })).toContain('that T has answered, with #2');
});

test('that the router gave up for a member is no answer of it', () => {
  const room = openMailRoom();
  const asked = sent(room.mail.send(person('A'), clarify()));
  const body = { reason: 'nobody', blocked_by: [] };
  decide(room, {
    do: 'send-mail',
    key: 'no',
    mail: { from: 'ROUTER', to: ['A'], type: 'fail', corr: asked, body },
  });
  expect(refusedAs(room, person('MAIN'), reply(asked))).toBe('sent');
});
