import { memberAt } from '../../../model/mail/policy.ts';
import { defined } from '../../../text/defined.ts';
import type { Json } from '../../../text/json.ts';
import { ACK_TIMEOUT_MS, BODY_INLINE_BYTES } from '../../../model/mail/times.ts';
import type { CheckedDraft } from '../../../model/mail/check-draft.ts';
import { MAIN, ROUTER } from '../../../model/mail/vocabulary.ts';
import { appendEvent } from '../events.ts';
import { rowDigest } from '../row-digest.ts';
import { storedJson, type Store } from '../store.ts';
import { writeBody } from './bodies.ts';
import { dueOnSend } from './clocks.ts';
import { takeEffect } from './effects.ts';
import { routerInstance } from './party.ts';
import { receivedBy } from './presence.ts';
import { type StoredMail } from './rows.ts';
import { ensureSession, epochOf, lastMail, requirePolicy } from './session.ts';

/** A checked message and its sender. */
export interface NewMessage extends Omit<CheckedDraft, 'verb'> {
  readonly runId: string;
  readonly party: string;
  readonly key: string | null;
  /** The turn that defers it: it takes effect when this turn completes. */
  readonly held: string | null;
  readonly instance: string;
  readonly from: string;
  /** Set where an engine decided to send it; its event is then no input. */
  readonly decision?: { readonly cause: number; readonly epoch: number };
}

/** Within a write transaction: puts one message into every recipient's inbox. */
export function post(store: Store, message: NewMessage): StoredMail {
  const row = toRow(store, message);
  store.insert('mail', { ...row, seal: rowDigest(Object.values(row)) });
  for (const recipient of message.to) insertDelivery(store, row, recipient, reviewDeadlineOf(message));
  if (row.held === null) takeEffect(store, row);
  return row;
}

/** A message of the router itself, which no rule checks. */
export function postAsRouter(
  store: Store,
  runId: string,
  message: Pick<NewMessage, 'to' | 'type' | 'decision'> & {
    readonly task: string | null | undefined;
    readonly corr: string | null | undefined;
    readonly body: Readonly<Record<string, Json>>;
    readonly sender?: { readonly party: string; readonly key: string };
  },
): StoredMail {
  const { body, task, corr, sender = { party: 'router', key: null }, ...said } = message;
  return post(store, {
    ...said,
    ...sender,
    ...defined({ task_id: task ?? undefined, corr: corr ?? undefined }),
    runId,
    held: null,
    instance: routerInstance(store),
    from: ROUTER,
    ttl_ms: requirePolicy(store, runId).ttlMs,
    body_encoding: 'json',
    body: JSON.stringify(body),
    fields: body,
  });
}

interface Failure {
  /** One of the protocol's reasons, or a text. */
  readonly reason: string;
  readonly target: string;
  readonly lastError: string;
  readonly retries: number;
}

/** Reports to MAIN that a message failed. Failed messages of the router itself are not reported. */
export function reportFailure(store: Store, mail: StoredMail, failure: Failure): void {
  if (mail.sender === ROUTER) return;
  const { reason, target, lastError, retries } = failure;
  postAsRouter(store, mail.run_id, {
    to: [MAIN],
    type: 'fail',
    task: mail.task_id,
    corr: mail.id,
    body: { reason, message_id: mail.id, target, last_error: lastError, retries, blocked_by: [] },
  });
}

/** The deadline of a review, which the check has put into its body. */
function reviewDeadlineOf({ fields }: NewMessage): number | null {
  const deadline = fields?.['review_deadline'];
  return typeof deadline === 'number' ? deadline : null;
}

function toRow(store: Store, message: NewMessage): StoredMail {
  const last = lastMail(store);
  const seq = last.seq + 1;
  const epoch = epochOf(store);
  const id = `${ensureSession(store)}-${epoch}-${seq}`;
  const long = Buffer.byteLength(message.body) > BODY_INLINE_BYTES ? writeBody(store, id, message.body) : undefined;
  return {
    seq,
    id,
    run_id: message.runId,
    epoch,
    event_seq: appendSent(store, message, { id, seq }),
    party: message.party,
    sent_key: message.key,
    held: message.held,
    agent_instance: message.instance,
    sender: message.from,
    recipients: storedJson([...message.to]),
    type: message.type,
    action: message.action ?? null,
    task_id: message.task_id ?? null,
    owner: message.owner ?? null,
    deadline: message.deadline ?? null,
    corr: message.corr ?? null,
    ttl_ms: message.ttl_ms,
    ts: Math.max(store.clock.now(), last.ts),
    body_encoding: message.body_encoding,
    body: long === undefined ? message.body : '',
    body_ref: long?.ref ?? null,
    digest: long?.digest ?? null,
  };
}

function appendSent(store: Store, message: NewMessage, { id, seq }: { id: string; seq: number }): number {
  const { runId, from, to, type, action = null, task_id: task = null, corr = null, held } = message;
  const data: Json = { id, seq, from, to: [...to], type, action, task, corr, held };
  return appendEvent(store, { stream: runId, type: 'mail-sent', data, ...message.decision });
}

/** The clocks of a deferred message start when its turn has ended. */
function insertDelivery(store: Store, mail: StoredMail, recipient: string, reviewDeadline: number | null): void {
  const { due, expiresAt, answerDue } = startClocks(store, mail, recipient, reviewDeadline);
  const started = mail.held === null;
  store.insert('mail_delivery', {
    ...{ mail_seq: mail.seq, recipient, run_id: mail.run_id, sender: mail.sender, state: 'waiting' },
    ...{ held: started ? 0 : 1, due: started ? due : null, expires_at: expiresAt, is_ask: mail.type === 'ask' ? 1 : 0 },
    ...{ answer_due: started ? answerDue : null, answer_at: started ? answerDue : null },
  });
}

/**
 * The clocks of one delivery, from the moment at which its recipient can see the message: `due` by the recipient's own clock, the
 * others in epoch ms.
 */
export function startClocks(store: Store, mail: StoredMail, recipient: string, reviewDeadline: number | null) {
  const now = store.clock.now();
  const { action, ts, deadline } = mail;
  const toPerson = memberAt(requirePolicy(store, mail.run_id), recipient)?.agent === null;
  return {
    due: receivedBy(store, mail.run_id, recipient) + ACK_TIMEOUT_MS,
    expiresAt: Math.min(Math.max(now, ts) + mail.ttl_ms, deadline ?? Number.MAX_SAFE_INTEGER),
    answerDue: mail.type === 'ask' ? dueOnSend({ action, ts, deadline, reviewDeadline, toPerson }) : null,
  };
}
