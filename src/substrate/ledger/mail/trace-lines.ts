import { rowDigest, type Field } from '../row-digest.ts';
import type { Store } from '../store.ts';

export interface TraceLine {
  readonly mailSeq: number;
  readonly recipient: string;
  readonly what: 'delivered' | 'accepted' | 'retry' | 'dead' | 'overdue' | 'void';
  readonly note?: string;
}

/** Within a write transaction: what became of messages, in this order; lines of one call share their `batch`. */
export function appendTrace(store: Store, lines: readonly TraceLine[]): void {
  const sql = 'SELECT coalesce(max(n), 0) AS last FROM mail_trace';
  const batch = (store.db.prepare<[], { last: number }>(sql).get()?.last ?? 0) + 1;
  const now = store.clock.now();
  for (const [index, { mailSeq, recipient, what, note = '' }] of lines.entries()) {
    const row: Field[] = [batch + index, batch, mailSeq, recipient, what, now, note];
    store.db
      .prepare(
        'INSERT INTO mail_trace (n, batch, mail_seq, recipient, what, ts, note, seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      )
      .run(...row, rowDigest(row));
  }
}
