import type { Store } from '../store.ts';
import type { Delivery, MailParty } from '../../ports/mailbox.ts';
import { partyKey, requireReader } from './party.ts';
import { startReading } from './reading.ts';
import { deliveriesOf, deliveriesWhere, mailById, toDelivery, toMessage, type StoredDelivery } from './rows.ts';

const MOST_SHOWN = 1_000;

/**
 * Within a write transaction: leases the oldest messages to this reader. Messages that another reader has leased come back when
 * that lease ends, so no later message of the same sender may overtake them.
 */
export function claim(store: Store, party: MailParty, options: { limit: number; leaseMs: number }): Delivery[] {
  const { address } = requireReader(store, party);
  const reader = partyKey(party);
  const now = store.clock.now();
  const rows = freeCopies(store, party.runId, address, { reader, limit: options.limit });
  const lease = `UPDATE mail_delivery SET state = 'leased', leased_by = ?, leased_until = ?, handed_to = NULL
    WHERE recipient = ? AND mail_seq IN (SELECT value FROM json_each(?))`;
  store.run(lease, reader, now + options.leaseMs, address, JSON.stringify(rows.map((row) => row.mail_seq)));
  if (party.by === 'turn') startReading(store, party.attemptId);
  return rows.map((row) => toDelivery(store, { ...row, state: 'leased' }));
}

export function inbox(store: Store, party: MailParty, limit: number = MOST_SHOWN): Delivery[] {
  const { address } = requireReader(store, party);
  const own = 'SELECT * FROM mail_delivery WHERE run_id = @run AND recipient = @address AND held = 0';
  const sql = `SELECT * FROM (${own} AND state IN ('waiting', 'leased') UNION ALL ${own} AND state = 'dead')
    ORDER BY mail_seq LIMIT @limit`;
  const rows = store.all<StoredDelivery>(sql, { run: party.runId, address, limit });
  return rows.map((row) => toDelivery(store, row));
}

/** A message that this party sent, or that it or its role received. A deferred message is not visible yet. */
export function messageFor(
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
  return { message: toMessage(row), answerDue: own?.answer_due ?? null };
}

/** Messages that these recipients have not read and no reader has leased, in the order sent. */
export function unreadOf(store: Store, runId: string, recipients: readonly string[], limit: number): Delivery[] {
  return recipients
    .flatMap((recipient) => freeCopies(store, runId, recipient, { reader: '', limit }))
    .toSorted((a, b) => a.mail_seq - b.mail_seq)
    .slice(0, limit)
    .map((row) => toDelivery(store, row));
}

/**
 * Unread and not leased, except behind an older message of the same sender that another reader has leased. First finds each
 * sender's oldest leased message, because asking that for every row takes time for every pair of rows.
 */
function freeCopies(
  store: Store,
  runId: string,
  recipient: string,
  { reader, limit }: { reader: string; limit: number },
): StoredDelivery[] {
  const ofRecipient = 'run_id = @run AND recipient = @recipient';
  const isLeased = "state = 'leased' AND (leased_until IS NULL OR leased_until > @now)";
  const sql = `WITH blocked AS MATERIALIZED (
      SELECT sender, min(mail_seq) AS since FROM mail_delivery
      WHERE ${ofRecipient} AND ${isLeased} AND leased_by <> @reader GROUP BY sender)
    SELECT mail_delivery.* FROM mail_delivery LEFT JOIN blocked ON blocked.sender = mail_delivery.sender
    WHERE ${ofRecipient} AND held = 0 AND (since IS NULL OR mail_seq < since)
      AND state IN ('waiting', 'leased') AND NOT (${isLeased})
    ORDER BY mail_seq LIMIT @limit`;
  return store.all<StoredDelivery>(sql, { run: runId, recipient, reader, now: store.clock.now(), limit });
}

/** The ask that this party owes an answer to: the newest, if one sender asked about one task; a text says why there is none. */
export function openAsk(store: Store, party: MailParty, taskId: string | undefined): Delivery | string {
  const { address, role } = requireReader(store, party);
  const where = `run_id = ? AND is_ask = 1 AND answer IS NULL AND state <> 'void' AND held = 0
    AND recipient IN (?, ?) ORDER BY mail_seq`;
  const open = deliveriesWhere(store, where, party.runId, address, role).map((row) => toDelivery(store, row));
  const asked = open.filter(({ message }) => taskId === undefined || message.task_id === taskId);
  const newest = asked.at(-1);
  if (newest === undefined) return noAsk(address, taskId, open);
  const threads = new Set(asked.map(({ message }) => JSON.stringify([message.from, message.task_id ?? null])));
  if (threads.size === 1) return newest;
  const about = taskId === undefined ? '' : ` about task ${taskId}`;
  return `${address} owes several answers${about}: ${asked.map(askName).join(', ')}`;
}

function noAsk(address: string, taskId: string | undefined, open: readonly Delivery[]): string {
  if (taskId === undefined) return `${address} owes no answer`;
  const others = open.length === 0 ? 'nothing else' : open.map(askName).join(', ');
  return `${address} owes no answer about task ${taskId}; open: ${others}`;
}

function askName({ message }: Delivery): string {
  return `${message.id} (${message.from}, task ${message.task_id ?? '-'})`;
}
