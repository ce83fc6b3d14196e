import type { Store } from '../store.ts';
import type { Delivery, MailStatus } from '../../ports/mailbox.ts';
import { listTasks } from './effects.ts';
import { onlineAddresses } from './presence.ts';
import { deliveriesWhere, toDelivery } from './rows.ts';
import { readSession, requirePolicy } from './session.ts';

const MOST_LISTED = 200;
const UNREAD = "state IN ('waiting', 'leased')";
const UNANSWERED = "is_ask = 1 AND answer IS NULL AND state <> 'void' AND state <> 'dead' AND held = 0";

export function readStatus(store: Store, runId: string): MailStatus {
  const policy = requirePolicy(store, runId);
  const online = onlineAddresses(store, runId, policy);
  const unread = unreadBy(store, runId);
  return {
    session: readSession(store, runId),
    members: policy.members.map(({ address, role, agent }) => ({
      address,
      role,
      agent,
      online: online.has(address),
      unread: unread.get(address)?.count ?? 0,
      oldestUnread: unread.get(address)?.oldest ?? null,
    })),
    tasks: listTasks(store, runId),
    unanswered: listed(store, runId, UNANSWERED),
    dead: listed(store, runId, "state = 'dead'"),
    counts: countsOf(store, runId, unread),
  };
}

interface Unread {
  readonly count: number;
  readonly oldest: number;
}

function unreadBy(store: Store, runId: string): Map<string, Unread> {
  const sql = `SELECT recipient, count, ts AS oldest FROM mail JOIN
    (SELECT recipient, count(*) AS count, min(mail_seq) AS first FROM mail_delivery
     WHERE run_id = ? AND ${UNREAD} AND held = 0 GROUP BY recipient) ON seq = first`;
  return new Map(store.all<Unread & { recipient: string }>(sql, runId).map((row) => [row.recipient, row]));
}

function listed(store: Store, runId: string, where: string): Delivery[] {
  const rows = deliveriesWhere(store, `run_id = ? AND ${where} ORDER BY mail_seq LIMIT ${MOST_LISTED}`, runId);
  return rows.map((row) => toDelivery(store, row));
}

function countsOf(store: Store, runId: string, unread: Map<string, Unread>): MailStatus['counts'] {
  const count = (rows: string): number => store.value<number>(`SELECT count(*) FROM ${rows}`, runId) ?? 0;
  return {
    messages: count('mail WHERE run_id = ?'),
    unread: [...unread.values()].reduce((sum, { count: own }) => sum + own, 0),
    dead: count("mail_delivery WHERE run_id = ? AND state = 'dead'"),
    refused: count("event WHERE stream = ? AND type = 'mail-refused'"),
  };
}
