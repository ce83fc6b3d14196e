import { usageError } from '../../../model/errors.ts';
import type { MailAction } from '../../../model/mail/kind.ts';
import { appendEvent } from '../events.ts';
import type { Store } from '../store.ts';
import type { MailParty } from '../../ports/mailbox.ts';
import { dueOnAccept } from './clocks.ts';
import { isTurnKey, requireReader, turnIdOf } from './party.ts';
import { updateDelivery, type StoredDelivery } from './rows.ts';

interface Copy extends StoredDelivery {
  readonly id: string;
  readonly action: MailAction | null;
}

const VISIBLE = "mail_delivery.held = 0 AND state <> 'void'";

/** Within a write transaction. Accepts all of them or none: an id of another reader is refused with `usage`. */
export function accept(store: Store, party: MailParty, ids: readonly string[]): string[] {
  const { address } = requireReader(store, party);
  const attempt = turnIdOf(party);
  const copies = [...new Set(ids)].map((id) => ownCopy(store, party.runId, { id, address, attempt }));
  return acceptCopies(store, copies);
}

/** Accepts what is not accepted yet, in the order sent, and returns the ids of these messages. */
function acceptCopies(store: Store, copies: readonly Copy[]): string[] {
  const unread = copies.filter(({ state }) => state !== 'accepted').toSorted((a, b) => a.mail_seq - b.mail_seq);
  const now = store.clock.now();
  for (const copy of unread) {
    const isTimed = isTurnKey(copy.leased_by) && copy.answer_at !== null;
    const answerDue = copy.answer === null && !isTimed ? dueOnAccept(copy.action, now) : null;
    const set = `state = 'accepted', accepted_at = ?, leased_by = NULL, leased_until = NULL, due = NULL,
      answer_due = coalesce(?, answer_due), answer_at = coalesce(?, answer_at)`;
    updateDelivery(store, copy, set, now, answerDue, answerDue);
  }
  for (const [to, [first, ...others]] of Map.groupBy(unread, ({ recipient }) => recipient)) {
    if (first === undefined) continue;
    const data = { to, ids: [first, ...others].map(({ id }) => id) };
    appendEvent(store, { stream: first.run_id, type: 'mail-accepted', data });
  }
  return unread.map(({ id }) => id);
}

/** An answer shows that its sender has read the ask. */
export function acceptAnswered(store: Store, ask: string, [address, role]: readonly [string, string]): void {
  const where = `mail.id = ? AND recipient IN (?, ?) AND ${VISIBLE} ORDER BY recipient`;
  acceptCopies(store, copiesWhere(store, where, ask, address, role));
}

/** A turn that completes has read the messages in its prompt. */
export function acceptHanded(store: Store, attemptId: string, leasedBy: string): void {
  acceptCopies(store, copiesWhere(store, "leased_by = ? AND handed_to = ? AND state = 'leased'", leasedBy, attemptId));
}

/** Copies of a fork's messages that its parent's members had read. `read`: id and recipient of each. */
export function acceptCopied(store: Store, read: ReadonlySet<string>, runId: string): void {
  const all = copiesWhere(store, 'mail_delivery.run_id = ?', runId);
  acceptCopies(
    store,
    all.filter(({ id, recipient }) => read.has(`${id} ${recipient}`)),
  );
}

function copiesWhere(store: Store, where: string, ...parameters: (string | null)[]): Copy[] {
  const copies = 'SELECT mail_delivery.*, mail.id, mail.action FROM mail_delivery JOIN mail ON mail.seq = mail_seq';
  return store.all<Copy>(`${copies} WHERE ${where}`, ...parameters);
}

/** The copy of this address, or the one in this turn's prompt, which may be addressed to its role. */
function ownCopy(
  store: Store,
  runId: string,
  { id, address, attempt }: { id: string; address: string; attempt: string | null },
): Copy {
  const where = `mail.id = ? AND mail_delivery.run_id = ? AND (recipient = ? OR handed_to = ?) AND ${VISIBLE}
    ORDER BY recipient = ? DESC LIMIT 1`;
  const [copy] = copiesWhere(store, where, id, runId, address, attempt, address);
  if (copy !== undefined) return copy;
  throw usageError(
    `${address} has no message ${JSON.stringify(id.slice(0, 130))}.`,
    `List the messages: \`squad mail inbox --as ${address}\`.`,
  );
}
