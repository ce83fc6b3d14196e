import { memberAt } from '../../../model/mail/policy.ts';
import {
  closes,
  opensTask,
  reportsIssues,
  taskStateAfter,
  verifiedTo,
  type VerifyEnd,
} from '../../../model/mail/effects.ts';
import { ROUTER, type MailTaskStatus } from '../../../model/mail/vocabulary.ts';
import type { Store } from '../store.ts';
import type { MailTask } from '../../ports/mailbox.ts';
import { acceptAnswered } from './accept.ts';
import { readBody } from './bodies.ts';
import { requirePolicy } from './session.ts';
import { deliveriesOf, mailById, type StoredDelivery, type StoredMail } from './rows.ts';

/** Within the transaction in which a message becomes visible: closes the ask that it answers, and updates its task. */
export function takeEffect(store: Store, mail: StoredMail): void {
  // The router reports what happened. It answers no ask.
  if (mail.sender === ROUTER) return;
  const about = mail.corr === null ? undefined : mailById(store, mail.corr);
  const ask = about?.type === 'ask' ? about : undefined;
  if (ask !== undefined && closes(ask.action, mail)) {
    closeAsk(store, ask, mail);
    settleVerify(store, ask);
  }
  const status = taskStateAfter(mail, ask?.action);
  if (mail.task_id === null || status === undefined) return;
  if (opensTask(mail)) openTask(store, mail, mail.task_id);
  else setStatus(store, mail, mail.task_id, status);
}

/** Within the transaction that ended a recipient's part in a verify: its task ends with the last one, unless another ask followed. */
export function settleVerify(store: Store, ask: StoredMail): void {
  if (ask.action !== 'verify' || ask.task_id === null) return;
  const status = verifiedTo(deliveriesOf(store, ask.seq).map((copy) => verifyEnd(store, copy)));
  if (status === undefined) return;
  const newest = '(SELECT max(seq) FROM mail WHERE run_id = mail_task.run_id)';
  const asked = `SELECT 1 FROM mail JOIN mail_delivery ON mail_seq = seq WHERE mail.run_id = mail_task.run_id
    AND task_id = mail_task.id AND action IN ('assign', 'verify') AND seq > ? AND mail_delivery.held = 0 AND state <> 'void'`;
  const where = `WHERE run_id = ? AND id = ? AND status <> ? AND status <> 'open' AND NOT EXISTS (${asked})`;
  const sql = `UPDATE mail_task SET status = ?, last_update_seq = ${newest} ${where}`;
  store.run(sql, status, ask.run_id, ask.task_id, status, ask.seq);
}

function verifyEnd(store: Store, { answer, state }: StoredDelivery): VerifyEnd {
  if (answer === 'overdue') return 'silent';
  if (answer === null) return state === 'dead' ? 'lost' : 'open';
  const reply = mailById(store, answer);
  return reply !== undefined && reportsIssues(reply, JSON.parse(readBody(store, reply.id))) ? 'issues' : 'fine';
}

/** Within the transaction in which a run ends: no one does or verifies what is still open. */
export function failOpenTasks(store: Store, runId: string): void {
  const sql = "UPDATE mail_task SET status = 'failed' WHERE run_id = ? AND status IN ('open', 'verify_pending')";
  store.run(sql, runId);
}

/** Closes the ask for the sender's address and role. A late answer replaces `overdue`. */
function closeAsk(store: Store, ask: StoredMail, reply: StoredMail): void {
  const role = memberAt(requirePolicy(store, reply.run_id), reply.sender)?.role ?? reply.sender;
  acceptAnswered(store, ask.id, [reply.sender, role]);
  const sql = `UPDATE mail_delivery SET answer = ?, answer_at = NULL
    WHERE mail_seq = ? AND recipient IN (?, ?) AND state <> 'void' AND (answer IS NULL OR answer = 'overdue')`;
  store.run(sql, reply.id, ask.seq, reply.sender, role);
}

function openTask(store: Store, { run_id, seq, owner, sender, deadline }: StoredMail, id: string): void {
  const opened = { status: 'open', owner: owner ?? sender, deadline, retries: 0, mail_seq: seq, last_update_seq: seq };
  store.upsert('mail_task', { run_id, id }, opened);
}

function setStatus(store: Store, mail: StoredMail, id: string, status: MailTaskStatus): void {
  const sql = `INSERT INTO mail_task (run_id, id, status, owner, last_update_seq) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (run_id, id) DO UPDATE SET status = excluded.status, last_update_seq = excluded.last_update_seq`;
  store.run(sql, mail.run_id, id, status, mail.owner, mail.seq);
}

const TASK = 'run_id AS runId, id, status, owner, deadline, retries, last_update_seq AS lastUpdateSeq';

export function findTask(store: Store, runId: string, id: string): MailTask | undefined {
  return tasksWhere(store, 'run_id = ? AND id = ?', runId, id)[0];
}

/** In the order of their last change. */
export function listTasks(store: Store, runId: string): MailTask[] {
  return tasksWhere(store, 'run_id = ?', runId);
}

function tasksWhere(store: Store, where: string, ...parameters: string[]): MailTask[] {
  const sql = `SELECT ${TASK} FROM mail_task WHERE ${where} ORDER BY last_update_seq, id`;
  return store.all<MailTask>(sql, ...parameters);
}
