import { SquadError } from '../../../model/errors.ts';
import type { MailAction } from '../../../model/mail/kind.ts';
import type { Store } from '../store.ts';
import type { MailParty } from '../../ports/mailbox.ts';
import { dueOnAccept } from './answers.ts';
import { requireReader } from './party.ts';
import { DELIVERY_COLUMNS, type StoredDelivery } from './rows.ts';
import { appendTrace } from './trace-lines.ts';

interface Found extends StoredDelivery {
  readonly id: string;
  readonly action: MailAction | null;
}

/** Within a write transaction. All of them or none: an id that is not this reader's is refused with `usage`. */
export function accept(store: Store, party: MailParty, ids: readonly string[]): string[] {
  const { address } = requireReader(store, party);
  const attempt = party.by === 'turn' ? party.attemptId : null;
  const found = [...new Set(ids)].map((id) => findOwn(store, party.runId, { id, address, attempt }));
  return acceptRows(store, found);
}

/** The same for rows that the caller may accept. In the order sent, whatever order they are named in. */
export function acceptRows(store: Store, rows: readonly Found[]): string[] {
  const news = rows.filter(({ state }) => state !== 'accepted').toSorted((a, b) => a.mail_seq - b.mail_seq);
  const now = store.clock.now();
  for (const row of news) {
    const answerDue = row.answer === null ? dueOnAccept(row.action, now) : null;
    store.db
      .prepare(
        `UPDATE mail_delivery SET state = 'accepted', accepted_at = ?, leased_by = NULL, leased_until = NULL, due = NULL,
           answer_due = coalesce(?, answer_due), answer_at = coalesce(?, answer_at)
         WHERE mail_seq = ? AND recipient = ?`,
      )
      .run(now, answerDue, answerDue, row.mail_seq, row.recipient);
  }
  appendTrace(
    store,
    news.map(({ mail_seq: mailSeq, recipient }) => ({ mailSeq, recipient, what: 'accepted' as const })),
  );
  return news.map(({ id }) => id);
}

/** Whoever answers an ask has read it, whether or not it said so. */
export function acceptAnswered(store: Store, ask: string, recipients: readonly [string, string]): void {
  const rows = store.db
    .prepare<[string, string, string], Found>(
      `${SELECT} WHERE mail.id = ? AND recipient IN (?, ?) AND mail_delivery.held = 0 AND state <> 'void' ORDER BY recipient`,
    )
    .all(ask, ...recipients);
  acceptRows(store, rows);
}

/** What a turn holds in its prompt, in the order sent. */
export function handedTo(store: Store, attemptId: string, leasedBy: string): Found[] {
  return store.db
    .prepare<[string, string], Found>(
      `${SELECT} WHERE leased_by = ? AND handed_to = ? AND state = 'leased' ORDER BY mail_seq`,
    )
    .all(leasedBy, attemptId);
}

const SELECT = `SELECT mail.id, mail.action, ${DELIVERY_COLUMNS.split(',')
  .map((column) => `mail_delivery.${column.trim()}`)
  .join(', ')} FROM mail_delivery JOIN mail ON mail.seq = mail_seq`;

/** Of this address, or in the prompt of this very turn, as a letter to its role is. */
function findOwn(
  store: Store,
  runId: string,
  { id, address, attempt }: { id: string; address: string; attempt: string | null },
): Found {
  const row = store.db
    .prepare<[string, string, string, string | null, string], Found>(
      `${SELECT} WHERE mail.id = ? AND mail_delivery.run_id = ? AND (recipient = ? OR handed_to = ?)
         AND mail_delivery.held = 0 AND state <> 'void' ORDER BY recipient = ? DESC LIMIT 1`,
    )
    .get(id, runId, address, attempt, address);
  if (row !== undefined) return row;
  throw new SquadError({
    code: 'usage',
    message: `There is no message ${JSON.stringify(id.slice(0, 130))} to ${address}.`,
    next: `See what there is: \`squad mail inbox --as ${address}\`.`,
  });
}
