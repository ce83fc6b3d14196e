import type { Json } from '../../../text/json.ts';
import { BODY_INLINE_BYTES } from '../../../model/mail/times.ts';
import type { MailAction } from '../../../model/mail/kind.ts';
import type { MailType } from '../../../model/mail/vocabulary.ts';
import { appendEvent } from '../events.ts';
import { storedJson, type Store } from '../store.ts';
import { writeBody } from './bodies.ts';
import { takeEffect } from './effects.ts';
import { startJourney } from './journey.ts';
import { insertMail, type StoredMail } from './rows.ts';
import { ensureSession, epochOf, lastMail } from './session.ts';
import { appendTrace } from './trace-lines.ts';

/** A message that was checked, and who sends it. */
export interface Letter {
  readonly runId: string;
  readonly party: string;
  readonly key: string | null;
  /** The turn at whose end it takes effect. */
  readonly held: string | null;
  readonly instance: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly type: MailType;
  readonly action?: MailAction | undefined;
  readonly task_id?: string | undefined;
  readonly owner?: string | undefined;
  readonly deadline?: number | undefined;
  readonly corr?: string | undefined;
  readonly ttl_ms: number;
  readonly body_encoding: 'json' | 'base64';
  readonly body: string;
  readonly reviewDeadline: number | null;
  /** Where an engine decided it: its event is then no input. */
  readonly decision?: { readonly cause: number; readonly epoch: number };
}

/** Within a write transaction: one message, in every recipient's inbox. */
export function post(store: Store, letter: Letter): StoredMail {
  const row = toRow(store, letter);
  insertMail(store, row);
  for (const recipient of letter.to) insertDelivery(store, row, recipient, letter.reviewDeadline);
  appendTrace(
    store,
    letter.to.map((recipient) => ({ mailSeq: row.seq, recipient, what: 'delivered' as const })),
  );
  if (row.held === null) takeEffect(store, row);
  return row;
}

function toRow(store: Store, letter: Letter): StoredMail {
  const last = lastMail(store);
  const seq = last.seq + 1;
  const epoch = epochOf(store, letter.runId);
  const id = `${ensureSession(store)}-${epoch}-${seq}`;
  const long = Buffer.byteLength(letter.body) > BODY_INLINE_BYTES ? writeBody(store, id, letter.body) : undefined;
  return {
    seq,
    id,
    run_id: letter.runId,
    epoch,
    event_seq: appendSent(store, letter, { id, seq }),
    party: letter.party,
    sent_key: letter.key,
    held: letter.held,
    agent_instance: letter.instance,
    sender: letter.from,
    recipients: storedJson([...letter.to]),
    type: letter.type,
    action: letter.action ?? null,
    task_id: letter.task_id ?? null,
    owner: letter.owner ?? null,
    deadline: letter.deadline ?? null,
    corr: letter.corr ?? null,
    ttl_ms: letter.ttl_ms,
    ts: Math.max(store.clock.now(), last.ts),
    body_encoding: letter.body_encoding,
    body: long === undefined ? letter.body : '',
    body_ref: long?.ref ?? null,
    digest: long?.digest ?? null,
  };
}

function appendSent(store: Store, letter: Letter, { id, seq }: { id: string; seq: number }): number {
  const { runId, from, to, type, action = null, task_id: task = null, corr = null, held } = letter;
  const data: Json = { id, seq, from, to: [...to], type, action, task, corr, held };
  return appendEvent(store, { stream: runId, type: 'mail-sent', data, ...letter.decision });
}

function insertDelivery(store: Store, mail: StoredMail, recipient: string, reviewDeadline: number | null): void {
  const { due, expiresAt, answerDue } = startJourney(store, mail, recipient, reviewDeadline);
  const held = mail.held === null ? 0 : 1;
  // What is held has no clock yet: they start when its turn has ended.
  store.db
    .prepare(
      `INSERT INTO mail_delivery (mail_seq, recipient, run_id, sender, state, held, due, expires_at, is_ask, answer_due, answer_at)
       VALUES (?, ?, ?, ?, 'waiting', ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      mail.seq,
      recipient,
      mail.run_id,
      mail.sender,
      held,
      held === 1 ? null : due,
      expiresAt,
      mail.type === 'ask' ? 1 : 0,
      held === 1 ? null : answerDue,
      held === 1 ? null : answerDue,
    );
}
