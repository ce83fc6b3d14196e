import { ACK_TIMEOUT_MS } from '../../../model/mail/times.ts';
import { appendEvent } from '../events.ts';
import type { Store } from '../store.ts';
import { acceptHanded } from './accept.ts';
import { takeEffect } from './effects.ts';
import { turnKey } from './party.ts';
import { startClocks } from './post.ts';
import { receivedBy } from './presence.ts';
import { mailWhere, recipientsOf, type StoredDelivery, type StoredMail } from './rows.ts';

/**
 * Within the transaction that settles a turn: its deferred messages take effect or are void, the messages in its prompt are
 * accepted or wait again, and its token expires.
 */
export function settleMail(store: Store, attemptId: string, completed: boolean): void {
  for (const mail of mailWhere(store, 'held = ?', attemptId)) {
    if (completed) release(store, mail);
    else annul(store, mail);
  }
  const key = turnKey(attemptId);
  if (completed) acceptHanded(store, attemptId, key);
  giveBack(store, key);
  store.db
    .prepare('UPDATE mail_token SET ended_at = ? WHERE attempt_id = ? AND ended_at IS NULL')
    .run(store.clock.now(), attemptId);
}

function release(store: Store, mail: StoredMail): void {
  for (const recipient of recipientsOf(store, mail)) {
    const { due, expiresAt, answerDue } = startClocks(store, mail, recipient, null);
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
  store.db
    .prepare("UPDATE mail_delivery SET state = 'void', due = NULL, answer_at = NULL, last_error = ? WHERE mail_seq = ?")
    .run('its turn did not complete', mail.seq);
  appendEvent(store, { stream: mail.run_id, type: 'mail-void', data: { id: mail.id, to: recipientsOf(store, mail) } });
}

/** Messages that were in its prompt, or that it claimed itself, and that it did not accept. */
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
      .run(receivedBy(store, runId, recipient) + ACK_TIMEOUT_MS, mailSeq, recipient);
  }
}
