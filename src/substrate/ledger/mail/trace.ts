import { z } from 'zod';
import type { LedgerEvent } from '../../../model/ledger-event.ts';
import type { MailTrace, PresenceMeta } from '../../ports/mailbox.ts';
import { readEvents } from '../events.ts';
import type { Store } from '../store.ts';
import { guarded } from '../transactions.ts';
import { mailById, seqOf, toMessage } from './rows.ts';

const PAGE = 500;

const dataSchema = z.object({
  id: z.string().optional(),
  ids: z.array(z.string()).default([]),
  to: z.union([z.string(), z.array(z.string())]),
  retry: z.number().default(0),
  error: z.string().default(''),
});

type Data = z.infer<typeof dataSchema>;

/** The events that are acknowledgements in the protocol. */
const ACKS: Readonly<Record<string, 'delivered' | 'accepted'>> = {
  'mail-sent': 'delivered',
  'mail-accepted': 'accepted',
};

/** What else happens to a recipient's copy, with a note for people. */
const TROUBLES: Readonly<
  Record<string, { readonly event: 'retry' | 'dead' | 'overdue' | 'void'; note(data: Data): string }>
> = {
  'mail-retried': { event: 'retry', note: ({ retry }) => `retry ${retry}: it was not accepted in time` },
  'mail-dead': { event: 'dead', note: ({ error }) => error },
  'mail-overdue': { event: 'overdue', note: () => 'the time for its answer is over' },
  'mail-task-overdue': { event: 'overdue', note: () => 'the time for its answer is over' },
  // Older events say none.
  'mail-void': { event: 'void', note: ({ error }) => error || 'its turn did not complete' },
};

const presenceSchema: z.ZodType<{ agent: string; meta: PresenceMeta }> = z.object({
  agent: z.string(),
  meta: z.object({
    role: z.string(),
    session: z.string(),
    epoch: z.number(),
    window_name: z.string().nullable(),
    ts: z.number(),
  }),
});

type Where = { readonly runId?: string; readonly task?: string; readonly afterSeq?: number };

/** The events of messages, in their order, read page by page. A message comes before its deliveries. */
export function* traceOf(store: Store, where: Where): Generator<MailTrace> {
  let after = guarded(store.db, () => eventBefore(store, where.afterSeq ?? 0));
  for (;;) {
    const from = after;
    const page = guarded(store.db, () =>
      readEvents(store, {
        ...(where.runId === undefined ? {} : { stream: where.runId }),
        after: from,
        limit: PAGE,
        types: [...Object.keys(ACKS), ...Object.keys(TROUBLES), 'mail-registered'],
      }),
    );
    for (const event of page) yield* guarded(store.db, () => entriesOf(store, event, where));
    after = page.at(-1)?.seq ?? after;
    if (page.length < PAGE) return;
  }
}

/** No event about a later message comes before the event of this one. */
function eventBefore(store: Store, mailSeq: number): number {
  return store.value<number>('SELECT event_seq FROM mail WHERE seq <= ? ORDER BY seq DESC LIMIT 1', mailSeq) ?? 0;
}

function entriesOf(store: Store, { type, data, at: ts }: LedgerEvent, { task, afterSeq = 0 }: Where): MailTrace[] {
  if (type === 'mail-registered') {
    const presence = task === undefined ? presenceSchema.safeParse(data).data : undefined;
    return presence === undefined ? [] : [{ event: 'presence', ...presence }];
  }
  const read = dataSchema.safeParse(data).data;
  if (read === undefined) return [];
  const ids = (read.id === undefined ? read.ids : [read.id]).filter(
    (id) => seqOf(id) > afterSeq && (task === undefined || mailById(store, id)?.task_id === task),
  );
  const ack = ACKS[type];
  const trouble = TROUBLES[type];
  const copies = ids.flatMap((id) => [read.to].flat().map((agent) => ({ id, agent })));
  const entries = copies.flatMap(({ id, agent }): MailTrace[] => {
    if (ack !== undefined) return [{ event: 'ack', id, ack, agent, ts }];
    return trouble === undefined ? [] : [{ event: trouble.event, id, agent, ts, note: trouble.note(read) }];
  });
  const [first] = ids;
  const sent = type === 'mail-sent' && first !== undefined ? mailById(store, first) : undefined;
  return sent === undefined
    ? entries
    : [{ event: 'message', message: toMessage(store, sent), held: sent.held }, ...entries];
}
