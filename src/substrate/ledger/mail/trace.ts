import { z } from 'zod';
import type { LedgerEvent } from '../../../model/ledger-event.ts';
import { ROUTER_NOTE } from '../../../model/mail/router-note.ts';
import type { MailTrace, PresenceMeta } from '../../ports/mailbox.ts';
import { readEvents } from '../events.ts';
import type { Store } from '../store.ts';
import { guarded } from '../transactions.ts';
import { deliveriesOf, mailById, mailWhere, recipientsOf, seqOf, toMessage, type StoredMail } from './rows.ts';

const PAGE = 500;

const dataSchema = z.object({
  id: z.string().optional(),
  ids: z.array(z.string()).default([]),
  to: z.union([z.string(), z.array(z.string())]),
  retry: z.number().default(0),
  error: z.string().default(''),
});

type Data = z.infer<typeof dataSchema>;

/** Retries, failures and delays of a recipient's copy, with a note for people. */
const TROUBLES: Readonly<
  Record<string, { readonly event: 'retry' | 'dead' | 'overdue' | 'void'; note(data: Data): string }>
> = {
  'mail-retried': { event: 'retry', note: ({ retry }) => `retry ${retry}: ${ROUTER_NOTE.notAccepted}` },
  'mail-dead': { event: 'dead', note: ({ error }) => error },
  'mail-overdue': { event: 'overdue', note: () => ROUTER_NOTE.answerOver },
  'mail-task-overdue': { event: 'overdue', note: () => ROUTER_NOTE.answerOver },
  // Older events say none.
  'mail-void': { event: 'void', note: ({ error }) => error || ROUTER_NOTE.turnLost },
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

const settledSchema = z.object({ attemptId: z.string(), outcome: z.literal('completed') });

type Where = { readonly runId?: string; readonly task?: string; readonly afterSeq?: number };

/** The events that say what happened to messages. A deferred one is delivered by the settlement of its turn. */
const TYPES = ['mail-sent', 'mail-accepted', 'attempt-settled', ...Object.keys(TROUBLES), 'mail-registered'];

/**
 * The events of messages, in their order, read page by page. A message comes before its deliveries, and no entry is older than the
 * one before, also where the clock was set back.
 */
export function* traceOf(store: Store, where: Where): Generator<MailTrace> {
  let latest = 0;
  for (const entry of entriesOfAll(store, where)) {
    if (entry.event === 'presence') {
      yield entry;
      continue;
    }
    latest = Math.max(latest, entry.event === 'message' ? entry.message.ts : entry.ts);
    yield entry.event === 'message' ? entry : { ...entry, ts: latest };
  }
}

function* entriesOfAll(store: Store, where: Where): Generator<MailTrace> {
  let after = guarded(store.db, () => eventBefore(store, where.afterSeq ?? 0));
  for (;;) {
    const from = after;
    const page = guarded(store.db, () =>
      readEvents(store, {
        ...(where.runId === undefined ? {} : { stream: where.runId }),
        after: from,
        limit: PAGE,
        types: TYPES,
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

function entriesOf(store: Store, { type, data, at: ts }: LedgerEvent, where: Where): MailTrace[] {
  const { task, afterSeq = 0 } = where;
  if (type === 'mail-registered') {
    const presence = task === undefined ? presenceSchema.safeParse(data).data : undefined;
    return presence === undefined ? [] : [{ event: 'presence', ...presence }];
  }
  if (type === 'attempt-settled') return releasedBy(store, data, ts, where);
  const read = dataSchema.safeParse(data).data;
  if (read === undefined) return [];
  const ids = (read.id === undefined ? read.ids : [read.id]).filter(
    (id) => seqOf(id) > afterSeq && (task === undefined || mailById(store, id)?.task_id === task),
  );
  if (type === 'mail-sent') return ids.flatMap((id) => sentEntries(store, mailById(store, id), ts));
  const copies = ids.flatMap((id) => [read.to].flat().map((agent) => ({ id, agent })));
  const trouble = TROUBLES[type];
  return copies.map(({ id, agent }): MailTrace => {
    if (trouble === undefined) return { event: 'ack', id, ack: 'accepted', agent, ts };
    return { event: trouble.event, id, agent, ts, note: trouble.note(read) };
  });
}

/** A deferred message is not delivered yet. */
function sentEntries(store: Store, mail: StoredMail | undefined, ts: number): MailTrace[] {
  if (mail === undefined) return [];
  const waits = "SELECT 1 FROM mail_delivery WHERE mail_seq = ? AND held = 1 AND state <> 'void'";
  const held = mail.held !== null && store.has(waits, mail.seq) ? mail.held : null;
  const delivered = mail.held === null ? deliveredAt(mail.id, recipientsOf(mail), ts) : [];
  return [{ event: 'message', message: toMessage(mail), held }, ...delivered];
}

/** Messages that a completed turn deferred are delivered at its end, unless squad answers in their place. */
function releasedBy(store: Store, data: LedgerEvent['data'], ts: number, { task, afterSeq = 0 }: Where): MailTrace[] {
  const settled = settledSchema.safeParse(data).data;
  if (settled === undefined) return [];
  const mails = mailWhere(store, 'held = ? AND seq > ?', settled.attemptId, afterSeq);
  return mails
    .filter((mail) => task === undefined || mail.task_id === task)
    .flatMap((mail) => {
      const copies = deliveriesOf(store, mail.seq).filter(({ state }) => state !== 'void');
      return deliveredAt(
        mail.id,
        copies.map(({ recipient }) => recipient),
        ts,
      );
    });
}

function deliveredAt(id: string, agents: readonly string[], ts: number): MailTrace[] {
  return agents.map((agent) => ({ event: 'ack', id, ack: 'delivered', agent, ts }));
}
