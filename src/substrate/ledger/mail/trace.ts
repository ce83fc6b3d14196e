import { z } from 'zod';
import type { LedgerEvent } from '../../../model/ledger-event.ts';
import type { MailTrace, PresenceMeta } from '../../ports/mailbox.ts';
import { readEvents } from '../events.ts';
import type { Store } from '../store.ts';
import { guarded } from '../transactions.ts';
import { mailById, seqOf, toMessage } from './rows.ts';

const PAGE = 500;

const WHAT = {
  'mail-sent': 'delivered',
  'mail-accepted': 'accepted',
  'mail-retried': 'retry',
  'mail-dead': 'dead',
  'mail-overdue': 'overdue',
  'mail-task-overdue': 'overdue',
  'mail-void': 'void',
} as const;

/** One thing that happened to one recipient's copy of a message. */
export interface TraceLine {
  readonly id: string;
  readonly recipient: string;
  readonly what: (typeof WHAT)[keyof typeof WHAT];
  readonly note: string;
}

const dataSchema = z.object({
  id: z.string().optional(),
  ids: z.array(z.string()).default([]),
  to: z.union([z.string(), z.array(z.string())]),
  retry: z.number().default(0),
  error: z.string().default(''),
});

/** The facts about messages in an event of the ledger; none for other events. */
export function linesOf({ type, data }: Pick<LedgerEvent, 'type' | 'data'>): TraceLine[] {
  if (!isMailEvent(type)) return [];
  const read = dataSchema.safeParse(data).data;
  if (read === undefined) return [];
  const what = WHAT[type];
  const note = NOTES[what](read);
  const ids = read.id === undefined ? read.ids : [read.id];
  return ids.flatMap((id) => [read.to].flat().map((recipient) => ({ id, recipient, what, note })));
}

type Data = z.infer<typeof dataSchema>;

const NOTES: Readonly<Record<TraceLine['what'], (data: Data) => string>> = {
  delivered: () => '',
  accepted: () => '',
  retry: ({ retry }) => `retry ${retry}: it was not accepted in time`,
  dead: ({ error }) => error,
  overdue: () => 'the time for its answer is over',
  void: () => 'its turn did not complete',
};

function isMailEvent(type: string): type is keyof typeof WHAT {
  return Object.hasOwn(WHAT, type);
}

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
        types: [...Object.keys(WHAT), 'mail-registered'],
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

function entriesOf(store: Store, event: LedgerEvent, { task, afterSeq = 0 }: Where): MailTrace[] {
  const presence = task === undefined ? presenceSchema.safeParse(event.data).data : undefined;
  if (presence !== undefined) return [{ event: 'presence', ...presence }];
  const lines = linesOf(event).filter(
    ({ id }) => seqOf(id) > afterSeq && (task === undefined || mailById(store, id)?.task_id === task),
  );
  const [first] = lines;
  const acks = lines.map(({ id, recipient: agent, what, note }): MailTrace => {
    if (what === 'delivered' || what === 'accepted') return { event: 'ack', id, ack: what, agent, ts: event.at };
    return { event: what, id, agent, ts: event.at, note };
  });
  const row = first?.what === 'delivered' ? mailById(store, first.id) : undefined;
  return row === undefined ? acks : [{ event: 'message', message: toMessage(store, row), held: row.held }, ...acks];
}
