import type { Json } from '../../../text/json.ts';
import { appendEvent } from '../events.ts';
import type { Store } from '../store.ts';
import { atAnswerDue } from './answers.ts';
import { expired, overdueTasks, unacknowledged, unanswered, type OverdueTask } from './due.ts';
import { settleVerify } from './effects.ts';
import { receivedBy } from './presence.ts';
import { nextTry } from './retry.ts';
import { tellMain } from './router-letter.ts';
import { deliveriesOf, mailBySeq, recipientsOf, type StoredDelivery, type StoredMail } from './rows.ts';
import { appendTrace } from './trace-lines.ts';

/** Of one call: what is left is found by the next. */
export const MOST_CHANGES = 500;

const UNREAD: ReadonlySet<string> = new Set(['waiting', 'leased']);

/**
 * Within a write transaction: what time has brought. Tasks first, so that MAIN hears of an assignment that is over once, and
 * not again of its letter.
 */
export function advance(store: Store, runId: string): number {
  let left = MOST_CHANGES;
  const each = <T>(items: readonly T[], act: (item: T) => void): void => {
    for (const item of items) act(item);
    left -= items.length;
  };
  each(overdueTasks(store, runId, left), (task) => failTask(store, runId, task));
  each(expired(store, runId, left), (delivery) => expire(store, delivery));
  each(unacknowledged(store, runId, left), (delivery) => tryAgain(store, delivery));
  each(unanswered(store, runId, left), (delivery) => remind(store, delivery));
  return MOST_CHANGES - left;
}

/** An assignment whose deadline is over: its task has failed, whoever has it. */
function failTask(store: Store, runId: string, task: OverdueTask): void {
  const mail = mailBySeq(store, task.mail_seq);
  const deliveries = deliveriesOf(store, mail.seq);
  const lastError = 'its deadline is over';
  store.db
    .prepare("UPDATE mail_task SET status = 'failed', last_update_seq = ? WHERE run_id = ? AND id = ?")
    .run(mail.seq, runId, task.id);
  record(store, mail, 'mail-task-overdue', { task: task.id, id: mail.id, to: recipientsOf(store, mail) });
  for (const delivery of deliveries) {
    if (UNREAD.has(delivery.state)) bury(store, mail, delivery, lastError);
    if (delivery.answer === null) markOverdue(store, delivery);
  }
  const retries = Math.max(...deliveries.map((delivery) => delivery.retries));
  tellMain(store, mail, { reason: 'deadline_exceeded', target: deliveries.map(nameOf).join(', '), lastError, retries });
}

function expire(store: Store, delivery: StoredDelivery): void {
  const mail = mailBySeq(store, delivery.mail_seq);
  const late = mail.deadline !== null && mail.deadline <= store.clock.now();
  giveUp(store, mail, delivery, 'deadline_exceeded', late ? 'its deadline is over' : 'its time to live is over');
}

function tryAgain(store: Store, delivery: StoredDelivery): void {
  const { mail_seq: seq, recipient, run_id: runId, phase, retries } = delivery;
  const mail = mailBySeq(store, seq);
  const next = nextTry({ id: mail.id, phase, retries });
  const lastError = 'it was not accepted in time';
  if (next.step === 'give-up') {
    giveUp(store, mail, delivery, 'not accepted', lastError);
    return;
  }
  const due = receivedBy(store, runId, recipient, store.clock.now()) + next.due;
  if (next.step === 'wait') {
    store.db
      .prepare(
        "UPDATE mail_delivery SET phase = 'backoff', due = ?, last_error = ? WHERE mail_seq = ? AND recipient = ?",
      )
      .run(due, lastError, seq, recipient);
    return;
  }
  store.db
    .prepare(
      `UPDATE mail_delivery SET state = 'waiting', leased_by = NULL, leased_until = NULL, phase = 'ack', retries = ?, due = ?
       WHERE mail_seq = ? AND recipient = ?`,
    )
    .run(next.retries, due, seq, recipient);
  store.db.prepare('UPDATE mail_task SET retries = ? WHERE run_id = ? AND mail_seq = ?').run(next.retries, runId, seq);
  appendTrace(store, [{ mailSeq: seq, recipient, what: 'retry', note: `retry ${next.retries}: ${lastError}` }]);
  record(store, mail, 'mail-retried', { id: mail.id, to: recipient, retry: next.retries });
}

/** A dead letter, of which MAIN is told. An assignment that nobody has read any more has failed. */
function giveUp(store: Store, mail: StoredMail, delivery: StoredDelivery, reason: string, lastError: string): void {
  bury(store, mail, delivery, lastError);
  tellMain(store, mail, { reason, target: delivery.recipient, lastError, retries: delivery.retries });
  const read = "SELECT 1 FROM mail_delivery WHERE mail_seq = ? AND state <> 'dead'";
  if (store.db.prepare(read).get(mail.seq) !== undefined) return;
  store.db
    .prepare("UPDATE mail_task SET status = 'failed' WHERE run_id = ? AND mail_seq = ? AND status = 'open'")
    .run(mail.run_id, mail.seq);
}

function bury(store: Store, mail: StoredMail, delivery: StoredDelivery, lastError: string): void {
  const { mail_seq: mailSeq, recipient, retries } = delivery;
  store.db
    .prepare(
      `UPDATE mail_delivery SET state = 'dead', leased_by = NULL, leased_until = NULL, due = NULL, last_error = ?
       WHERE mail_seq = ? AND recipient = ?`,
    )
    .run(lastError, mailSeq, recipient);
  appendTrace(store, [{ mailSeq, recipient, what: 'dead', note: lastError }]);
  record(store, mail, 'mail-dead', { id: mail.id, to: recipient, retries, error: lastError });
}

/** The time of an answer is over. */
function remind(store: Store, delivery: StoredDelivery): void {
  const mail = mailBySeq(store, delivery.mail_seq);
  const { close, next } = atAnswerDue(mail.action, store.clock.now());
  if (close) markOverdue(store, delivery);
  else {
    store.db
      .prepare('UPDATE mail_delivery SET answer_at = ? WHERE mail_seq = ? AND recipient = ?')
      .run(next, mail.seq, delivery.recipient);
    appendTrace(store, [overdueLine(delivery)]);
  }
  const { id, action, task_id: task } = mail;
  record(store, mail, 'mail-overdue', { id, to: delivery.recipient, action, task });
  if (close) settleVerify(store, mail);
}

function markOverdue(store: Store, delivery: StoredDelivery): void {
  store.db
    .prepare(
      "UPDATE mail_delivery SET answer = 'overdue', answer_at = NULL WHERE mail_seq = ? AND recipient = ? AND is_ask = 1",
    )
    .run(delivery.mail_seq, delivery.recipient);
  appendTrace(store, [overdueLine(delivery)]);
}

function overdueLine({ mail_seq: mailSeq, recipient }: StoredDelivery) {
  return { mailSeq, recipient, what: 'overdue', note: 'the time for its answer is over' } as const;
}

function nameOf({ recipient }: StoredDelivery): string {
  return recipient;
}

function record(store: Store, mail: StoredMail, type: string, data: Json): void {
  appendEvent(store, { stream: mail.run_id, type, data });
}
