import { ROUTER_NOTE } from '../../../model/mail/router-note.ts';
import { promisesDocument } from '../../../model/mail/effects.ts';
import { ACK_TIMEOUT_MS } from '../../../model/mail/times.ts';
import { parseJson } from '../../../text/json.ts';
import { appendEvent } from '../events.ts';
import type { Store } from '../store.ts';
import { acceptHanded } from './accept.ts';
import { readBody } from './bodies.ts';
import { takeEffect } from './effects.ts';
import { turnKey } from './party.ts';
import { startClocks } from './post.ts';
import { receivedBy } from './presence.ts';
import { deliveriesWhere, mailWhere, recipientsOf, updateDelivery, type StoredMail } from './rows.ts';
import { endReading } from './reading.ts';
import { endTokens } from './tokens.ts';

/**
 * Within the transaction that settles a turn: its deferred messages take effect or are void, the messages in its prompt are
 * accepted or wait again, and its token expires.
 */
export function settleMail(store: Store, attemptId: string, completed: boolean): void {
  for (const mail of mailWhere(store, 'held = ?', attemptId)) {
    if (!completed) annul(store, mail, ROUTER_NOTE.turnLost);
    else if (isPromise(store, mail)) annul(store, mail, ROUTER_NOTE.promise);
    else release(store, mail);
  }
  const key = turnKey(attemptId);
  if (completed) acceptHanded(store, attemptId, key);
  endReading(store, attemptId);
  giveBack(store, key);
  endTokens(store, 'attempt_id = ?', attemptId);
}

function release(store: Store, mail: StoredMail): void {
  for (const recipient of recipientsOf(mail)) {
    const { due, expiresAt, answerDue } = startClocks(store, mail, recipient, null);
    const set = 'held = 0, due = ?, expires_at = ?, answer_due = ?, answer_at = ?';
    updateDelivery(store, { mail_seq: mail.seq, recipient }, set, due, expiresAt, answerDue, answerDue);
  }
  takeEffect(store, mail);
}

/** The plan hears of it all the same, and answers once it knows whether the document was delivered. */
function isPromise(store: Store, mail: StoredMail): boolean {
  return mail.action === 'answer' && promisesDocument(mail, parseJson(readBody(store, mail.id)));
}

function annul(store: Store, mail: StoredMail, error: string): void {
  const set = "state = 'void', due = NULL, answer_at = NULL, last_error = ?";
  store.run(`UPDATE mail_delivery SET ${set} WHERE mail_seq = ?`, error, mail.seq);
  const data = { id: mail.id, to: recipientsOf(mail), error };
  appendEvent(store, { stream: mail.run_id, type: 'mail-void', data });
}

/** Messages that were in its prompt, or that it claimed itself, and that it did not accept. */
function giveBack(store: Store, key: string): void {
  const set = "state = 'waiting', leased_by = NULL, leased_until = NULL, handed_to = NULL, phase = 'ack', due = ?";
  for (const copy of deliveriesWhere(store, 'leased_by = ?', key)) {
    updateDelivery(store, copy, set, receivedBy(store, copy.run_id, copy.recipient) + ACK_TIMEOUT_MS);
  }
}
