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
  /** In the order written. */
  readonly lines: readonly { n: number; batch: number; mailSeq: number; recipient: string; what: string }[];
}

/** Within the snapshot of the caller. */
export function readMailHistory({ db }: Store): MailHistory {
  const rows = <T>(sql: string): T[] => db.prepare<[], T>(sql).all();
  return {
    sessions: rows<{ id: string }>('SELECT id FROM mail_session').map(({ id }) => id),
    messages: rows(
      `SELECT seq, id, run_id AS runId, epoch, event_seq AS eventSeq, held, sender, recipients, ts FROM mail ORDER BY seq`,
    ),
    deliveries: rows(
      'SELECT mail_seq AS mailSeq, recipient, state, held FROM mail_delivery ORDER BY mail_seq, recipient',
    ),
    lines: rows('SELECT n, batch, mail_seq AS mailSeq, recipient, what FROM mail_trace ORDER BY n'),
  };
}
