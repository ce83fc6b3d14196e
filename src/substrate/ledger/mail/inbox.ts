import type { Store } from '../store.ts';
import type { Delivery, MailParty } from '../../ports/mailbox.ts';
import { partyKey, requireReader } from './party.ts';
import { deliveriesOf, DELIVERY_COLUMNS, mailById, toDelivery, toMessage, type StoredDelivery } from './rows.ts';

const MOST_SHOWN = 1_000;

/**
 * Within a write transaction: leases the oldest. What another reader has leased comes back when that lease ends, so nothing
 * younger of the same sender may overtake it.
 */
export function claim(store: Store, party: MailParty, options: { limit: number; leaseMs: number }): Delivery[] {
  const { address } = requireReader(store, party);
  const key = partyKey(party);
  const now = store.clock.now();
  const rows = free(store, party.runId, address, { reader: key, limit: options.limit });
  store.db
    .prepare(
      `UPDATE mail_delivery SET state = 'leased', leased_by = ?, leased_until = ?, handed_to = NULL
       WHERE recipient = ? AND mail_seq IN (SELECT value FROM json_each(?))`,
    )
    .run(key, now + options.leaseMs, address, JSON.stringify(rows.map((row) => row.mail_seq)));
  return rows.map((row) => toDelivery(store, { ...row, state: 'leased' }));
}

export function inbox(store: Store, party: MailParty, limit: number = MOST_SHOWN): Delivery[] {
  const { address } = requireReader(store, party);
  const columns = `SELECT ${DELIVERY_COLUMNS} FROM mail_delivery WHERE run_id = @run AND recipient = @address AND held = 0`;
  const rows = store.db
    .prepare<[{ run: string; address: string; limit: number }], StoredDelivery>(
      `SELECT * FROM (${columns} AND state IN ('waiting', 'leased') UNION ALL ${columns} AND state = 'dead')
       ORDER BY mail_seq LIMIT @limit`,
    )
    .all({ run: party.runId, address, limit });
  return rows.map((row) => toDelivery(store, row));
}

/** To this party, or to anybody of its role; or from it. What another turn holds back is not there yet. */
export function letter(
  store: Store,
  party: MailParty,
  id: string,
): Pick<Delivery, 'message' | 'answerDue'> | undefined {
  const { address, role } = requireReader(store, party);
  const row = mailById(store, id);
  if (row === undefined || row.run_id !== party.runId) return undefined;
  const own = deliveriesOf(store, row.seq).find(
    ({ recipient, held, state }) => [address, role].includes(recipient) && held === 0 && state !== 'void',
  );
  if (own === undefined && row.sender !== address) return undefined;
  return { message: toMessage(store, row), answerDue: own?.answer_due ?? null };
}

/** Unread by these recipients and free, in the order sent. */
export function lettersFor(store: Store, runId: string, recipients: readonly string[], limit: number): Delivery[] {
  return recipients
    .flatMap((recipient) => free(store, runId, recipient, { reader: '', limit }))
    .toSorted((a, b) => a.mail_seq - b.mail_seq)
    .slice(0, limit)
    .map((row) => toDelivery(store, row));
}

interface FreeOf {
  readonly run: string;
  readonly recipient: string;
  readonly reader: string;
  readonly now: number;
  readonly limit: number;
}

/** Neither read nor with anybody, and nothing older of the same sender is with somebody else. */
function free(
  store: Store,
  runId: string,
  recipient: string,
  { reader, limit }: { reader: string; limit: number },
): StoredDelivery[] {
  const isLive = (row: string): string =>
    `${row}.state = 'leased' AND (${row}.leased_until IS NULL OR ${row}.leased_until > @now)`;
  return store.db
    .prepare<[FreeOf], StoredDelivery>(
      `SELECT ${DELIVERY_COLUMNS} FROM mail_delivery AS letter
       WHERE run_id = @run AND recipient = @recipient AND state IN ('waiting', 'leased') AND held = 0
         AND NOT (${isLive('letter')})
         AND NOT EXISTS (SELECT 1 FROM mail_delivery AS older
           WHERE older.run_id = letter.run_id AND older.recipient = letter.recipient AND older.sender = letter.sender
             AND older.mail_seq < letter.mail_seq AND older.leased_by <> @reader AND ${isLive('older')})
       ORDER BY mail_seq LIMIT @limit`,
    )
    .all({ run: runId, recipient, reader, now: store.clock.now(), limit });
}
