import type { CheckedDraft } from '../../../model/mail/check-draft.ts';
import type { MailRefusal } from '../../../model/mail/refusal.ts';
import { isSameName, type MailMember } from '../../../model/mail/route.ts';
import { MAIN } from '../../../model/mail/vocabulary.ts';
import { findAttempt } from '../attempts.ts';
import type { Store } from '../store.ts';
import type { MailParty } from '../../ports/mailbox.ts';
import { mailWhere, recipientsOf } from './rows.ts';

/**
 * Why this agent may not hand on or assign that task; undefined if it may. Its own tasks are the task of its turn, tasks assigned
 * to it, and tasks that it assigned. MAIN and people may assign any task. Only the plan knows tasks that have not begun yet, so it
 * checks again once the message takes effect.
 */
export function refuseForeign(
  store: Store,
  party: MailParty,
  { address, role }: MailMember,
  { action, task_id: task }: CheckedDraft,
): MailRefusal | undefined {
  if (action !== 'assign' || task === undefined || party.by === 'person' || address === MAIN) return undefined;
  const turn = party.by === 'turn' ? party.attemptId : '';
  const own = findAttempt(store, turn)?.taskId;
  if (task === own) return undefined;
  const assigned = mailWhere(store, EFFECTIVE, party.runId, task, turn);
  const isMine = (name: string): boolean => isSameName(name, address) || isSameName(name, role);
  if (assigned.some((mail) => isMine(mail.sender) || recipientsOf(store, mail).some(isMine))) return undefined;
  if (assigned.length === 0 && !isPlanned(store, party.runId, task)) return undefined;
  const which = own === undefined ? 'a task of its sender' : `a task of its sender (${own})`;
  const rule = `is ${which}, or a new one; if another task has to change, use \`send\` or \`ask\` to MAIN or to the agent that has it`;
  return { reason: 'not_authorized', field: 'task_id', rule };
}

/** SQL for assignments that took effect, and those that this turn holds. */
const EFFECTIVE = `run_id = ? AND action = 'assign' AND task_id = ? AND NOT EXISTS (
  SELECT 1 FROM mail_delivery WHERE mail_seq = mail.seq AND (mail_delivery.state = 'void' OR (mail_delivery.held = 1 AND mail.held <> ?)))`;

function isPlanned({ db }: Store, runId: string, task: string): boolean {
  return db.prepare('SELECT 1 FROM attempt WHERE run_id = ? AND task_id = ? LIMIT 1').get(runId, task) !== undefined;
}
