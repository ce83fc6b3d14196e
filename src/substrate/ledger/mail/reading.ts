import type { MailAction } from '../../../model/mail/kind.ts';
import type { Store } from '../store.ts';
import { dueOnAccept } from './clocks.ts';
import { turnKey } from './party.ts';
import { updateDelivery, type StoredDelivery } from './rows.ts';

// The time to answer that begins with the reading begins when a turn has the ask before it: in its prompt, or from its tool. A turn
// that is lost has read nothing, so its time does not count. Neither does time in which no engine could have ended the turn.

type Copy = StoredDelivery & { readonly action: MailAction | null };

const COPIES = 'SELECT mail_delivery.*, mail.action FROM mail_delivery JOIN mail ON mail.seq = mail_seq';
const OPEN_ASK = 'is_ask = 1 AND answer IS NULL';

/** Within the transaction in which a turn starts, or takes messages from its inbox. */
export function startReading(store: Store, attemptId: string): void {
  const now = store.clock.now();
  const where = `leased_by = ? AND ${OPEN_ASK} AND answer_at IS NULL`;
  for (const copy of store.all<Copy>(`${COPIES} WHERE ${where}`, turnKey(attemptId))) {
    const due = dueOnAccept(copy.action, now);
    if (due !== null) updateDelivery(store, copy, 'answer_due = ?, answer_at = ?', due, due);
  }
}

/** Within the transaction in which a turn ends: what it has not accepted, it has not read. */
export function endReading(store: Store, attemptId: string): void {
  for (const copy of store.all<Copy>(`${COPIES} WHERE leased_by = ? AND ${OPEN_ASK}`, turnKey(attemptId))) {
    if (dueOnAccept(copy.action, 0) !== null) updateDelivery(store, copy, 'answer_due = NULL, answer_at = NULL');
  }
}

/**
 * Within the transaction in which an engine takes over a run, before it: moves the clocks of live turns by the time without one. The
 * former one was there when it wrote its last event, and for as long as its lease says that it has worked.
 */
export function skipAbsence(store: Store, runId: string): void {
  const seen = `SELECT max(
    coalesce((SELECT at FROM event WHERE stream = @run AND epoch IS NOT NULL ORDER BY seq DESC LIMIT 1), 0),
    coalesce((SELECT seen_at FROM lease WHERE run_id = @run ORDER BY epoch DESC LIMIT 1), 0))`;
  const absent = Math.max(0, store.clock.now() - (store.value<number>(seen, { run: runId }) ?? 0));
  const reading = `mail_delivery.run_id = ? AND leased_by LIKE '${turnKey('%')}' AND ${OPEN_ASK} AND answer_at IS NOT NULL`;
  for (const copy of store.all<Copy>(`${COPIES} WHERE ${reading}`, runId)) {
    if (dueOnAccept(copy.action, 0) === null) continue;
    updateDelivery(store, copy, 'answer_due = answer_due + ?, answer_at = answer_at + ?', absent, absent);
  }
}
