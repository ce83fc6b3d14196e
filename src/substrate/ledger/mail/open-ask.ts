import type { Store } from '../store.ts';
import type { Delivery, MailParty } from '../../ports/mailbox.ts';
import { requireReader } from './party.ts';
import { DELIVERY_COLUMNS, toDelivery, type StoredDelivery } from './rows.ts';

/** Asks of several senders or tasks are several; of one sender about one task the newest is meant. */
export function openAsk(store: Store, party: MailParty, taskId: string | undefined): Delivery | string {
  const { address, role } = requireReader(store, party);
  const columns = DELIVERY_COLUMNS.split(',').map((column) => `mail_delivery.${column.trim()}`);
  const open = store.db
    .prepare<[string, string, string, string | null, string | null], StoredDelivery>(
      `SELECT ${columns.join(', ')} FROM mail_delivery JOIN mail ON mail.seq = mail_seq
       WHERE mail_delivery.run_id = ? AND is_ask = 1 AND answer IS NULL AND state <> 'void' AND mail_delivery.held = 0
         AND recipient IN (?, ?) AND (? IS NULL OR task_id = ?) ORDER BY mail_seq`,
    )
    .all(party.runId, address, role, taskId ?? null, taskId ?? null)
    .map((row) => toDelivery(store, row));
  const about = taskId === undefined ? '' : ` about task ${taskId}`;
  const newest = open.at(-1);
  if (newest === undefined) return `${address} owes nobody an answer${about}`;
  const threads = new Set(open.map(({ message }) => JSON.stringify([message.from, message.task_id ?? null])));
  if (threads.size === 1) return newest;
  const ids = open.map(({ message }) => `${message.id} (${message.from}, task ${message.task_id ?? '-'})`);
  return `${address} owes several answers${about}: ${ids.join(', ')}`;
}
