import type { Store } from '../store.ts';
import { guarded } from '../transactions.ts';
import type { MailTrace } from '../../ports/mailbox.ts';
import { mailBySeq, toMessage } from './rows.ts';

const PAGE = 500;

interface StoredLine {
  readonly n: number;
  readonly mail_seq: number;
  readonly id: string;
  readonly recipient: string;
  readonly what: 'delivered' | 'accepted' | 'retry' | 'dead' | 'overdue' | 'void';
  readonly ts: number;
  readonly note: string;
}

type Where = { readonly runId?: string; readonly task?: string; readonly afterSeq?: number };

/** A message comes before its first delivery, which is written with it. */
export function* traceOf(store: Store, where: Where): Generator<MailTrace> {
  let last = where.afterSeq ?? 0;
  let after = 0;
  for (;;) {
    const lines = pageAfter(store, after, where);
    for (const line of lines) {
      if (line.what === 'delivered' && line.mail_seq > last) {
        last = line.mail_seq;
        yield messageLine(store, last);
      }
      yield toTrace(line);
      after = line.n;
    }
    if (lines.length < PAGE) return;
  }
}

function pageAfter(
  store: Store,
  after: number,
  { runId = null, task = null, afterSeq = 0 }: NullableWhere,
): StoredLine[] {
  return guarded(store.db, () =>
    store.db
      .prepare<[{ after: number; run: string | null; task: string | null; seq: number; page: number }], StoredLine>(
        `SELECT n, mail_seq, mail.id, recipient, what, mail_trace.ts, note FROM mail_trace JOIN mail ON mail.seq = mail_seq
         WHERE n > @after AND mail_seq > @seq AND (@run IS NULL OR run_id = @run) AND (@task IS NULL OR task_id = @task)
         ORDER BY n LIMIT @page`,
      )
      .all({ after, run: runId, task, seq: afterSeq, page: PAGE }),
  );
}

type NullableWhere = { runId?: string | null; task?: string | null; afterSeq?: number };

function messageLine(store: Store, seq: number): MailTrace {
  return guarded(store.db, () => {
    const row = mailBySeq(store, seq);
    return { event: 'message', message: toMessage(store, row), held: row.held };
  });
}

function toTrace({ id, recipient: agent, what, ts, note }: StoredLine): MailTrace {
  if (what === 'delivered' || what === 'accepted') return { event: 'ack', id, ack: what, agent, ts };
  return { event: what, id, agent, ts, note };
}
