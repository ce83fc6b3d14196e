import { defined } from '../../../text/defined.ts';
import type { MailDraft } from '../../../model/mail/envelope.ts';
import { MAIL_VERBS } from '../../../model/mail/kind.ts';
import { ROUTER } from '../../../model/mail/vocabulary.ts';
import { catchRefusal, refuse } from '../../../model/mail/refusal.ts';
import type { DecisionEvent } from '../timers.ts';
import type { Store } from '../store.ts';
import type { EngineMail } from '../../ports/mailbox.ts';
import { ENGINE, turnKey } from './party.ts';
import { settleVerify } from './effects.ts';
import { findPolicy } from './session.ts';
import { post, postAsRouter } from './post.ts';
import { mailWhere, type StoredMail } from './rows.ts';
import { checkForm, recordRefusal, sentBefore } from './send.ts';
import { memberAt, type MailPolicy } from '../../../model/mail/policy.ts';

/**
 * Within the transaction of a step: sends a message in the name of a member, checked like any other one. A refusal is recorded
 * and the step continues. A key that this run has used before sends nothing.
 */
export function sendAsEngine(store: Store, event: DecisionEvent, key: string, mail: EngineMail): void {
  const { stream: runId, cause, epoch } = event;
  if (sentBefore(store, runId, ENGINE, key) !== undefined) return;
  const policy = findPolicy(store, runId);
  const decision = { cause, epoch };
  if (mail.from === ROUTER && policy !== undefined) {
    const { to, type, body, task, corr } = mail;
    const sender = { party: ENGINE, key };
    closeRefused(store, postAsRouter(store, runId, { to, type, body, task, corr, decision, sender }));
    return;
  }
  const sent = catchRefusal(() => {
    const { member, draft } = checkEngineMail(store, runId, policy, mail);
    const instance = `${member.address}-${ENGINE}`;
    post(store, { ...draft, runId, party: ENGINE, key, held: null, instance, from: member.address, decision });
  });
  if (!sent.ok) recordRefusal(store, event, { by: ENGINE, address: mail.from }, sent.refusal);
}

/** The plan decided to send this and relies on it, so only the form is checked. */
function checkEngineMail(store: Store, runId: string, policy: MailPolicy | undefined, mail: EngineMail) {
  const member = policy === undefined ? undefined : memberAt(policy, mail.from);
  if (policy === undefined || member === undefined) return refuse('not_authorized', 'from', 'is a member of this run');
  const corr = mail.corrKey === undefined ? mail.corr : sentBefore(store, runId, ENGINE, mail.corrKey)?.id;
  if (mail.corrKey !== undefined && corr === undefined) {
    refuse('invalid_format', 'corr', 'is the id of a message that was sent');
  }
  const everybody = [...new Set(policy.members.flatMap(({ address, role }) => [address, role]))];
  const unbound = { ...member, verbs: [...MAIL_VERBS], writesTo: everybody };
  return { member, draft: checkForm(store, runId, { policy, member: unbound }, draftOf(mail, corr)) };
}

/** A refused ask no longer waits for an answer. A refused assignment to one recipient has failed. */
function closeRefused(store: Store, { id, seq, run_id: runId, corr }: StoredMail): void {
  const asked = '(SELECT seq FROM mail WHERE id = ? AND run_id = ?)';
  const open = `mail_seq = ${asked} AND is_ask = 1 AND answer IS NULL`;
  store.run(`UPDATE mail_delivery SET answer = ?, answer_at = NULL WHERE ${open}`, id, corr, runId);
  for (const ask of mailWhere(store, 'id = ? AND run_id = ?', corr, runId)) settleVerify(store, ask);
  const alone = '(SELECT count(*) FROM mail_delivery WHERE mail_delivery.mail_seq = mail_task.mail_seq) = 1';
  const assigned = `mail_seq = ${asked} AND run_id = ? AND status = 'open' AND ${alone}`;
  const fail = `UPDATE mail_task SET status = 'failed', last_update_seq = ? WHERE ${assigned}`;
  store.run(fail, seq, corr, runId, runId);
}

/** Leases the messages in a turn's prompt to that turn until it ends, except those that were accepted meanwhile. */
export function handMail(
  store: Store,
  runId: string,
  attemptId: string,
  mail: readonly { readonly id: string; readonly recipient: string }[],
): void {
  const live = "SELECT 1 FROM attempt WHERE id = ? AND run_id = ? AND status <> 'settled'";
  // The claim was refused: they wait for another turn.
  if (!store.has(live, attemptId, runId)) return;
  const lease = `UPDATE mail_delivery SET state = 'leased', leased_by = ?, leased_until = NULL, handed_to = ?, due = NULL
    WHERE mail_seq = (SELECT seq FROM mail WHERE id = ?) AND recipient = ? AND run_id = ? AND held = 0
      AND state IN ('waiting', 'leased')`;
  for (const { id, recipient } of mail) store.run(lease, turnKey(attemptId), attemptId, id, recipient, runId);
}

function draftOf({ to, type, action, task, owner, deadline, body }: EngineMail, corr: string | undefined): MailDraft {
  return { to, type, ...defined({ action, task_id: task, owner, corr, deadline }), body: JSON.stringify(body) };
}
