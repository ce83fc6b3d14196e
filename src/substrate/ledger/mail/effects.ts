import { closes, opensTask, reportsIssues, taskStateAfter } from '../../../model/mail/effects.ts';
import { ROUTER, type MailTaskStatus } from '../../../model/mail/vocabulary.ts';
import type { Store } from '../store.ts';
import type { MailTask } from '../../ports/mailbox.ts';
import { acceptAnswered } from './accept.ts';
import { readBody } from './bodies.ts';
import { findPolicy, memberAt } from './session.ts';
import { mailById, mailWhere, type StoredMail } from './rows.ts';

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

/**
 * Within the transaction that closed an answer: the task is verified once no recipient owes an answer and no answer names a new
 * issue. Silence counts as no new issue.
 */
export function settleVerify(store: Store, ask: StoredMail): void {
  const { db } = store;
  if (ask.action !== 'verify' || ask.task_id === null) return;
  const open = 'SELECT 1 FROM mail_delivery WHERE mail_seq = ? AND answer IS NULL';
  if (db.prepare(open).get(ask.seq) !== undefined) return;
  const replies = mailWhere(
    store,
    'id IN (SELECT answer FROM mail_delivery WHERE mail_seq = ? AND answer IS NOT NULL)',
    ask.seq,
  );
  if (replies.some((reply) => reportsIssues(reply, JSON.parse(readBody(store, reply.id))))) return;
  db.prepare(
    `UPDATE mail_task SET status = 'verified', last_update_seq = (SELECT max(seq) FROM mail WHERE run_id = mail_task.run_id)
     WHERE run_id = ? AND id = ? AND status = 'verify_pending'`,
  ).run(ask.run_id, ask.task_id);
}

/** Closes the ask for the sender's address and role. A late answer replaces `overdue`. */
function closeAsk(store: Store, ask: StoredMail, reply: StoredMail): void {
  const policy = findPolicy(store, reply.run_id);
  const role = policy === undefined ? undefined : memberAt(policy, reply.sender)?.role;
  acceptAnswered(store, ask.id, [reply.sender, role ?? reply.sender]);
  store.db
    .prepare(
      `UPDATE mail_delivery SET answer = ?, answer_at = NULL
       WHERE mail_seq = ? AND recipient IN (?, ?) AND state <> 'void' AND (answer IS NULL OR answer = 'overdue')`,
    )
    .run(reply.id, ask.seq, reply.sender, role ?? reply.sender);
}

function openTask({ db }: Store, mail: StoredMail, id: string): void {
  db.prepare(
    `INSERT INTO mail_task (run_id, id, status, owner, deadline, retries, mail_seq, last_update_seq)
     VALUES (?, ?, 'open', ?, ?, 0, ?, ?)
     ON CONFLICT (run_id, id) DO UPDATE SET status = 'open', owner = excluded.owner, deadline = excluded.deadline,
       retries = 0, mail_seq = excluded.mail_seq, last_update_seq = excluded.last_update_seq`,
  ).run(mail.run_id, id, mail.owner ?? mail.sender, mail.deadline, mail.seq, mail.seq);
}

function setStatus({ db }: Store, mail: StoredMail, id: string, status: MailTaskStatus): void {
  db.prepare(
    `INSERT INTO mail_task (run_id, id, status, owner, retries, last_update_seq) VALUES (?, ?, ?, ?, 0, ?)
     ON CONFLICT (run_id, id) DO UPDATE SET status = excluded.status, last_update_seq = excluded.last_update_seq`,
  ).run(mail.run_id, id, status, mail.owner, mail.seq);
}

const TASK = 'run_id AS runId, id, status, owner, deadline, retries, last_update_seq AS lastUpdateSeq';

export function findTask(store: Store, runId: string, id: string): MailTask | undefined {
  return tasksWhere(store, 'run_id = ? AND id = ?', runId, id)[0];
}

/** In the order of their last change. */
export function listTasks(store: Store, runId: string): MailTask[] {
  return tasksWhere(store, 'run_id = ?', runId);
}

function tasksWhere({ db }: Store, where: string, ...parameters: string[]): MailTask[] {
  return db
    .prepare<string[], MailTask>(`SELECT ${TASK} FROM mail_task WHERE ${where} ORDER BY last_update_seq, id`)
    .all(...parameters);
}
