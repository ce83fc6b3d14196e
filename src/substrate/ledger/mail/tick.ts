import { ROUTER_NOTE } from '../../../model/mail/router-note.ts';
import type { Json } from '../../../text/json.ts';
import { appendEvent } from '../events.ts';
import type { Store } from '../store.ts';
import { atAnswerDue, isRead, nextTry, receivedAt } from './clocks.ts';
import { settleVerify } from './effects.ts';
import { reportFailure } from './post.ts';
import { readAwaited, receivedBy } from './presence.ts';
import {
  deliveriesOf,
  deliveriesWhere,
  mailBySeq,
  recipientsOf,
  updateDelivery,
  type StoredDelivery,
  type StoredMail,
} from './rows.ts';

/** Changes of one call; the next call finds the rest. */
const MOST_CHANGES = 500;

/** Unread, and not in the prompt of a turn: such a turn has read it, however late it ends. */
const UNREAD = "state IN ('waiting', 'leased') AND held = 0 AND handed_to IS NULL";
const OPEN_ASSIGNMENT = "status = 'open' AND deadline IS NOT NULL AND mail_seq IS NOT NULL";

/** Epoch ms of the next moment at which a clock of this run is due; null: none is. */
export function nextDue(store: Store, runId: string): number | null {
  const first = (column: string, table: string, where: string) =>
    store.value<number | null>(`SELECT min(${column}) FROM ${table} WHERE run_id = ? AND ${where}`, runId) ?? null;
  const moments = [
    first('expires_at', 'mail_delivery', UNREAD),
    first('answer_at', 'mail_delivery', 'answer_at IS NOT NULL'),
    first('deadline', 'mail_task', OPEN_ASSIGNMENT),
    ...ackMoments(store, runId),
  ].filter((moment) => moment !== null);
  return moments.length === 0 ? null : Math.min(...moments);
}

/** For each recipient: when its first message is due, if its reader stays. */
function ackMoments(store: Store, runId: string): number[] {
  const now = store.clock.now();
  return readAwaited(store, runId).flatMap(({ due, ...clock }) => {
    if (due === null) return [];
    const left = due - receivedAt(clock, now);
    if (left <= 0) return [now];
    return isRead(clock, now) ? [now + left] : [];
  });
}

/**
 * Within a write transaction: acts on every clock that is due. Tasks first, so that MAIN gets one report of an overdue
 * assignment and not a second one about its message.
 */
export function advance(store: Store, runId: string): number {
  let left = MOST_CHANGES;
  const each = <T>(items: readonly T[], act: (item: T) => void): void => {
    for (const item of items) act(item);
    left -= items.length;
  };
  each(overdueTasks(store, runId, left), (task) => failTask(store, runId, task));
  each(dueBy(store, runId, { column: 'expires_at', where: UNREAD }, left), (delivery) => expire(store, delivery));
  each(unacknowledged(store, runId, left), (delivery) => tryAgain(store, delivery));
  each(dueBy(store, runId, { column: 'answer_at', where: 'answer_at IS NOT NULL' }, left), (delivery) =>
    remind(store, delivery),
  );
  return MOST_CHANGES - left;
}

function dueBy(
  store: Store,
  runId: string,
  { column, where }: { column: 'expires_at' | 'answer_at'; where: string },
  limit: number,
): StoredDelivery[] {
  const due = `run_id = ? AND ${where} AND ${column} <= ? ORDER BY ${column}, mail_seq LIMIT ?`;
  return deliveriesWhere(store, due, runId, store.clock.now(), limit);
}

/** Messages that their recipients could have read and have not. */
function unacknowledged(store: Store, runId: string, limit: number): StoredDelivery[] {
  const now = store.clock.now();
  const where = 'run_id = ? AND recipient = ? AND due <= ? ORDER BY due, mail_seq LIMIT ?';
  return readAwaited(store, runId)
    .filter(({ due, ...clock }) => due !== null && due <= receivedAt(clock, now))
    .flatMap(({ address, ...clock }) => deliveriesWhere(store, where, runId, address, receivedAt(clock, now), limit))
    .slice(0, limit);
}

type OverdueTask = Readonly<{ id: string; mail_seq: number }>;

function overdueTasks(store: Store, runId: string, limit: number): OverdueTask[] {
  const due = `run_id = ? AND ${OPEN_ASSIGNMENT} AND deadline <= ? ORDER BY deadline, id LIMIT ?`;
  const sql = `SELECT id, mail_seq FROM mail_task WHERE ${due}`;
  return store.all<OverdueTask>(sql, runId, store.clock.now(), limit);
}

/** An assignment whose deadline is over: its task has failed. */
function failTask(store: Store, runId: string, task: OverdueTask): void {
  const mail = mailBySeq(store, task.mail_seq);
  const deliveries = deliveriesOf(store, mail.seq);
  const lastError = ROUTER_NOTE.deadlineOver;
  const fail = "UPDATE mail_task SET status = 'failed', last_update_seq = ? WHERE run_id = ? AND id = ?";
  store.run(fail, mail.seq, runId, task.id);
  record(store, mail, 'mail-task-overdue', { task: task.id, id: mail.id, to: recipientsOf(mail) });
  for (const delivery of deliveries) {
    if (delivery.state === 'waiting' || delivery.state === 'leased') markDead(store, mail, delivery, lastError);
    if (delivery.answer === null) closeOverdue(store, delivery);
  }
  const retries = Math.max(...deliveries.map((delivery) => delivery.retries));
  const target = deliveries.map(({ recipient }) => recipient).join(', ');
  reportFailure(store, mail, { reason: 'deadline_exceeded', target, lastError, retries });
}

function expire(store: Store, delivery: StoredDelivery): void {
  const mail = mailBySeq(store, delivery.mail_seq);
  const late = mail.deadline !== null && mail.deadline <= store.clock.now();
  giveUp(store, mail, delivery, 'deadline_exceeded', late ? ROUTER_NOTE.deadlineOver : ROUTER_NOTE.lifeOver);
}

function tryAgain(store: Store, delivery: StoredDelivery): void {
  const { mail_seq: seq, recipient, run_id: runId, phase, retries } = delivery;
  const mail = mailBySeq(store, seq);
  const next = nextTry({ id: mail.id, phase, retries });
  const lastError = ROUTER_NOTE.notAccepted;
  if (next.step === 'give-up') {
    giveUp(store, mail, delivery, 'not accepted', lastError);
    return;
  }
  const due = receivedBy(store, runId, recipient) + next.due;
  if (next.step === 'wait') {
    updateDelivery(store, delivery, "phase = 'backoff', due = ?, last_error = ?", due, lastError);
    return;
  }
  const set = "state = 'waiting', leased_by = NULL, leased_until = NULL, phase = 'ack', retries = ?, due = ?";
  updateDelivery(store, delivery, set, next.retries, due);
  store.run('UPDATE mail_task SET retries = ? WHERE run_id = ? AND mail_seq = ?', next.retries, runId, seq);
  record(store, mail, 'mail-retried', { id: mail.id, to: recipient, retry: next.retries });
}

/** Gives up one delivery and reports it to MAIN. An assignment that every recipient failed to read has failed. */
function giveUp(store: Store, mail: StoredMail, delivery: StoredDelivery, reason: string, lastError: string): void {
  markDead(store, mail, delivery, lastError);
  reportFailure(store, mail, { reason, target: delivery.recipient, lastError, retries: delivery.retries });
  settleVerify(store, mail);
  const alive = "SELECT 1 FROM mail_delivery WHERE mail_seq = ? AND state <> 'dead'";
  if (store.has(alive, mail.seq)) return;
  const fail = "UPDATE mail_task SET status = 'failed' WHERE run_id = ? AND mail_seq = ? AND status = 'open'";
  store.run(fail, mail.run_id, mail.seq);
}

function markDead(store: Store, mail: StoredMail, delivery: StoredDelivery, error: string): void {
  const set = "state = 'dead', leased_by = NULL, leased_until = NULL, due = NULL, last_error = ?";
  updateDelivery(store, delivery, set, error);
  record(store, mail, 'mail-dead', { id: mail.id, to: delivery.recipient, retries: delivery.retries, error });
}

/** The time of an answer is over. */
function remind(store: Store, delivery: StoredDelivery): void {
  const mail = mailBySeq(store, delivery.mail_seq);
  const { close, next } = atAnswerDue(mail.action, store.clock.now());
  if (close) closeOverdue(store, delivery);
  else updateDelivery(store, delivery, 'answer_at = ?', next);
  const { id, action, task_id: task } = mail;
  record(store, mail, 'mail-overdue', { id, to: delivery.recipient, action, task });
  settleVerify(store, mail);
}

function closeOverdue(store: Store, delivery: StoredDelivery): void {
  if (delivery.is_ask === 1) updateDelivery(store, delivery, "answer = 'overdue', answer_at = NULL");
}

function record(store: Store, mail: StoredMail, type: string, data: Json): void {
  appendEvent(store, { stream: mail.run_id, type, data });
}
