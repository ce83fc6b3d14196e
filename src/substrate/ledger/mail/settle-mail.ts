import { ACK_TIMEOUT_MS } from '../../../model/mail/times.ts';
import type { Store } from '../store.ts';
import { acceptRows, handedTo } from './accept.ts';
import { takeEffect } from './effects.ts';
import { startJourney } from './journey.ts';
import { turnKey } from './party.ts';
import { receivedBy } from './presence.ts';
import { deliveriesOf, mailWhere, type StoredDelivery, type StoredMail } from './rows.ts';
import { appendTrace } from './trace-lines.ts';

/**
 * Within the transaction that settles a turn: what it sent takes effect or is void, what it was handed is read or waits
 * again, and its token dies.
 */
export function settleMail(store: Store, attemptId: string, completed: boolean): void {
  for (const mail of mailWhere(store, 'held = ?', attemptId)) {
    if (completed) release(store, mail);
    else annul(store, mail);
  }
  const key = turnKey(attemptId);
  if (completed) acceptRows(store, handedTo(store, attemptId, key));
  giveBack(store, key);
  store.db
    .prepare('UPDATE mail_token SET ended_at = ? WHERE attempt_id = ? AND ended_at IS NULL')
    .run(store.clock.now(), attemptId);
}

function release(store: Store, mail: StoredMail): void {
  for (const { recipient } of deliveriesOf(store, mail.seq)) {
    const { due, expiresAt, answerDue } = startJourney(store, mail, recipient, null);
    store.db
      .prepare(
        `UPDATE mail_delivery SET held = 0, due = ?, expires_at = ?, answer_due = ?, answer_at = ?
         WHERE mail_seq = ? AND recipient = ?`,
      )
      .run(due, expiresAt, answerDue, answerDue, mail.seq, recipient);
  }
  takeEffect(store, mail);
}

function annul(store: Store, mail: StoredMail): void {
  const deliveries = deliveriesOf(store, mail.seq);
  const note = 'its turn did not complete';
  store.db
    .prepare("UPDATE mail_delivery SET state = 'void', due = NULL, answer_at = NULL, last_error = ? WHERE mail_seq = ?")
    .run(note, mail.seq);
  appendTrace(
    store,
    deliveries.map(({ recipient }) => ({ mailSeq: mail.seq, recipient, what: 'void' as const, note })),
  );
}

/** Letters that its prompt held, and those that it has claimed itself and not said that it read. */
function giveBack(store: Store, key: string): void {
  const left = store.db
    .prepare<[string], StoredDelivery>('SELECT run_id, recipient, mail_seq FROM mail_delivery WHERE leased_by = ?')
    .all(key);
  for (const { run_id: runId, recipient, mail_seq: mailSeq } of left) {
    store.db
      .prepare(
        `UPDATE mail_delivery SET state = 'waiting', leased_by = NULL, leased_until = NULL, handed_to = NULL, phase = 'ack', due = ?
         WHERE mail_seq = ? AND recipient = ?`,
      )
      .run(receivedBy(store, runId, recipient, store.clock.now()) + ACK_TIMEOUT_MS, mailSeq, recipient);
  }
}
