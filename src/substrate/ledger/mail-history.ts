import type { LedgerEvent } from '../../model/ledger-event.ts';
import { seqOf } from './mail/rows.ts';
import { linesOf } from './mail/trace.ts';
import type { Store } from './store.ts';

/** The mailbox as plain rows: part of what the history checker judges. */
export interface MailHistory {
  /** Ids of sessions. */
  readonly sessions: readonly string[];
  /** In the order sent. `recipients`: JSON. */
  readonly messages: readonly {
    seq: number;
    id: string;
    runId: string;
    epoch: number;
    eventSeq: number;
    held: string | null;
    sender: string;
    recipients: string;
    ts: number;
  }[];
  readonly deliveries: readonly { mailSeq: number; recipient: string; state: string; held: number }[];
  /** What the events say about messages, in their order. `event`: its seq. */
  readonly lines: readonly { event: number; mailSeq: number; recipient: string; what: string }[];
}

/** Within the snapshot of the caller. */
export function readMailHistory({ db }: Store, events: readonly LedgerEvent[]): MailHistory {
  const rows = <T>(sql: string): T[] => db.prepare<[], T>(sql).all();
  return {
    sessions: rows<{ id: string }>('SELECT id FROM mail_session').map(({ id }) => id),
    messages: rows(
      `SELECT seq, id, run_id AS runId, epoch, event_seq AS eventSeq, held, sender, recipients, ts FROM mail ORDER BY seq`,
    ),
    deliveries: rows(
      'SELECT mail_seq AS mailSeq, recipient, state, held FROM mail_delivery ORDER BY mail_seq, recipient',
    ),
    lines: events.flatMap((event) =>
      linesOf(event).map(({ id, recipient, what }) => ({ event: event.seq, mailSeq: seqOf(id), recipient, what })),
    ),
  };
}
