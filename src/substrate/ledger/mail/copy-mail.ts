import { ROUTER_NOTE } from '../../../model/mail/router-note.ts';
import { fieldsOf, type Json } from '../../../text/json.ts';
import { appendEvent } from '../events.ts';
import { storedJson, type Store } from '../store.ts';
import { acceptCopied } from './accept.ts';
import { readBody } from './bodies.ts';
import { settleVerify } from './effects.ts';
import { pastParty } from './party.ts';
import { post, type NewMessage } from './post.ts';
import { mailBySeq, recipientsOf, updateDelivery, type StoredMail } from './rows.ts';
import { findPolicy } from './session.ts';

interface Fork {
  readonly parent: { readonly runId: string; readonly seq: number };
  readonly runId: string;
  /** The event that causes everything that the fork copies. */
  readonly decision: NonNullable<NewMessage['decision']>;
}

/** Messages that had taken effect by then: at once, by a decision, or at the completed end of the turn that sent them. */
const EFFECTIVE = `
SELECT mail.seq FROM mail JOIN event ON event.seq = mail.event_seq LEFT JOIN settlement ON attempt_id = mail.held
WHERE mail.run_id = @run AND coalesce(event.cause, event.seq) <= @seq
  AND (mail.held IS NULL OR settlement.outcome = 'completed' AND settlement.seq <= @seq)
  AND NOT EXISTS (SELECT 1 FROM event AS end WHERE end.stream = @run AND end.type = 'mail-void' AND end.data ->> 'id' = mail.id)
ORDER BY mail.seq`;

/** The state of each recipient's copy, or of an assignment, at the event. */
const PAST = `
SELECT event.type, ids.value AS id, coalesce(recipients.value, '') AS recipient
FROM event,
  json_each(coalesce(event.data -> 'ids', json_array(event.data ->> 'id'))) AS ids,
  json_each(iif(json_type(event.data, '$.to') = 'text', json_array(event.data ->> 'to'), event.data -> 'to')) AS recipients
WHERE stream = @run AND event.seq <= @seq AND event.type IN ('mail-accepted', 'mail-dead', 'mail-overdue', 'mail-task-overdue')
ORDER BY event.seq`;

type Past = Readonly<{ type: string; id: string; recipient: string }>;

/**
 * In a write transaction: gives a fork the mailbox of its parent as it was at an event. Each message is posted anew, so its clocks
 * begin anew; what was read, answered or given up stays so. Returns the new ids by the old ones.
 */
export function copyMail(store: Store, { parent, runId, decision }: Fork): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  const policy = findPolicy(store, parent.runId);
  if (policy === undefined) return ids;
  store.insert('mail_policy', { run_id: runId, policy: storedJson(policy), at: store.clock.now() });
  const bound = { run: parent.runId, seq: parent.seq };
  const copies = new Map<string, StoredMail>();
  for (const { seq } of store.all<{ seq: number }>(EFFECTIVE, bound)) {
    const old = mailBySeq(store, seq);
    const copy = post(store, { ...copyOf(store, old, ids), runId, decision });
    ids.set(old.id, copy.id);
    copies.set(old.id, copy);
  }
  const past = store.all<Past>(PAST, bound);
  const read = past.filter(({ type }) => type === 'mail-accepted');
  acceptCopied(store, new Set(read.flatMap(({ id, recipient }) => [`${ids.get(id) ?? ''} ${recipient}`])), runId);
  for (const one of past) repeat(store, one, copies.get(one.id));
  return ids;
}

function copyOf(
  store: Store,
  old: StoredMail,
  ids: ReadonlyMap<string, string>,
): Omit<NewMessage, 'runId' | 'decision'> {
  const body = readBody(store, old.id);
  const corr = old.corr === null ? undefined : ids.get(old.corr);
  return {
    party: pastParty(old.party),
    key: old.sent_key,
    held: null,
    instance: old.agent_instance,
    from: old.sender,
    to: recipientsOf(old),
    type: old.type,
    ttl_ms: old.ttl_ms,
    body_encoding: old.body_encoding,
    body,
    fields: old.body_encoding === 'json' ? (fieldsOf(body) as Readonly<Record<string, Json>>) : null,
    ...(old.action === null ? {} : { action: old.action }),
    ...(old.task_id === null ? {} : { task_id: old.task_id }),
    ...(old.owner === null ? {} : { owner: old.owner }),
    ...(old.deadline === null ? {} : { deadline: old.deadline }),
    ...(corr === undefined ? {} : { corr }),
  };
}

/** Messages that were given up, questions that were not answered in time, and assignments that failed by their deadline. */
function repeat(store: Store, { type, recipient }: Past, copy: StoredMail | undefined): void {
  if (copy === undefined) return;
  const delivery = { mail_seq: copy.seq, recipient };
  const open = 'SELECT 1 FROM mail_delivery WHERE mail_seq = ? AND recipient = ? AND state = ?';
  if (type === 'mail-dead' && store.has(open, copy.seq, recipient, 'waiting')) {
    const error = ROUTER_NOTE.beforeFork;
    updateDelivery(store, delivery, "state = 'dead', due = NULL, last_error = ?", error);
    appendEvent(store, { stream: copy.run_id, type, data: { id: copy.id, to: recipient, retries: 0, error } });
  }
  if (type === 'mail-overdue' || type === 'mail-task-overdue') {
    const set = "answer = 'overdue', answer_at = NULL";
    const unanswered =
      'SELECT 1 FROM mail_delivery WHERE mail_seq = ? AND recipient = ? AND is_ask = 1 AND answer IS NULL';
    if (store.has(unanswered, copy.seq, recipient)) updateDelivery(store, delivery, set);
  }
  settleVerify(store, copy);
  if (type === 'mail-task-overdue') {
    const fail = "UPDATE mail_task SET status = 'failed' WHERE run_id = ? AND mail_seq = ? AND status = 'open'";
    store.run(fail, copy.run_id, copy.seq);
  }
}
