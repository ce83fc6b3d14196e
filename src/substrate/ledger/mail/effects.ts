import { isJsonObject } from '../../../text/json.ts';
import { closes } from '../../../model/mail/effects.ts';
import { ROUTER, type MailTaskStatus } from '../../../model/mail/vocabulary.ts';
import type { Store } from '../store.ts';
import { acceptAnswered } from './accept.ts';
import { readBody } from './bodies.ts';
import { findPolicy, memberAt } from './policy.ts';
import { mailById, mailWhere, type StoredMail } from './rows.ts';
import { statusAfter } from './task-status.ts';

/** Within the transaction in which a message becomes visible: it closes what it answers, and its task moves. */
export function takeEffect(store: Store, mail: StoredMail): void {
  // The router tells of what has happened, and answers nothing.
  if (mail.sender === ROUTER) return;
  const about = mail.corr === null ? undefined : mailById(store, mail.corr);
  const ask = about?.type === 'ask' ? about : undefined;
  if (ask !== undefined && closes(ask.action, mail.type)) {
    closeAsk(store, ask, mail);
    settleVerify(store, ask);
  }
  const status = statusAfter(mail.type, mail.action, ask?.action ?? null);
  if (mail.task_id === null || status === undefined) return;
  if (mail.action === 'assign') openTask(store, mail, mail.task_id);
  else setStatus(store, mail, mail.task_id, status);
}

/**
 * A verified task is one whose last open verify was answered, and by nobody with a new issue: silence counts as none. Within
 * the transaction that closed an answer.
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
  if (replies.some((reply) => hasNewIssues(store, reply))) return;
  db.prepare(
    `UPDATE mail_task SET status = 'verified', last_update_seq = (SELECT max(seq) FROM mail WHERE run_id = mail_task.run_id)
     WHERE run_id = ? AND id = ? AND status = 'verify_pending'`,
  ).run(ask.run_id, ask.task_id);
}

/** Of an answer to a verify. */
function hasNewIssues(store: Store, { id, type }: StoredMail): boolean {
  const body: unknown = JSON.parse(readBody(store, id));
  const says = (field: string): boolean => isJsonObject(body) && body[field] === true;
  return type === 'fail' || says(type === 'report' ? 'has_issues' : 'has_new_issues');
}

/** Only whoever was asked can answer: by its address, or by its role. A late answer takes the place of the silence. */
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
