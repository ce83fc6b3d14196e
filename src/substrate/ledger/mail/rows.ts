import type { MailMessage } from '../../../model/mail/envelope.ts';
import type { MailAction } from '../../../model/mail/kind.ts';
import { MAIL_VERSION } from '../../../model/mail/vocabulary.ts';
import { rowDigest } from '../row-digest.ts';
import { corruptDatabase } from '../sqlite-errors.ts';
import type { Store } from '../store.ts';
import type { Delivery } from '../../ports/mailbox.ts';
import type { Phase } from './clocks.ts';

/** A row of `mail`, whose fields are in the table's order: its seal covers them in that order. */
export interface StoredMail extends Pick<
  MailMessage,
  'seq' | 'id' | 'epoch' | 'agent_instance' | 'type' | 'ttl_ms' | 'ts' | 'body_encoding' | 'body'
> {
  readonly run_id: string;
  readonly event_seq: number;
  readonly party: string;
  readonly sent_key: string | null;
  readonly held: string | null;
  readonly sender: string;
  /** JSON. */
  readonly recipients: string;
  readonly action: MailAction | null;
  readonly task_id: string | null;
  readonly owner: string | null;
  readonly deadline: number | null;
  readonly corr: string | null;
  readonly body_ref: string | null;
  readonly digest: string | null;
}

/** A row of `mail_delivery`. */
export interface StoredDelivery {
  readonly mail_seq: number;
  readonly recipient: string;
  readonly run_id: string;
  readonly sender: string;
  readonly state: Delivery['state'];
  readonly held: number;
  readonly leased_by: string | null;
  readonly leased_until: number | null;
  readonly handed_to: string | null;
  readonly retries: number;
  readonly phase: Phase;
  readonly due: number | null;
  readonly expires_at: number;
  readonly accepted_at: number | null;
  readonly is_ask: number;
  readonly answer_due: number | null;
  readonly answer_at: number | null;
  readonly answer: string | null;
  readonly last_error: string | null;
}

interface Sealed {
  readonly seal: Buffer | null;
}

export function mailBySeq(store: Store, seq: number): StoredMail {
  const row = store.one<StoredMail & Sealed>('SELECT * FROM mail WHERE seq = ?', seq);
  if (row === undefined) throw corruptDatabase(store.db.name, `message ${seq} is gone.`);
  return checkSeal(store, row);
}

export function mailById(store: Store, id: string): StoredMail | undefined {
  const row = store.one<StoredMail & Sealed>('SELECT * FROM mail WHERE id = ?', id);
  return row === undefined ? undefined : checkSeal(store, row);
}

/** In the order in which they were sent. `where`: SQL over `mail`, with its parameters. */
export function mailWhere(store: Store, where: string, ...parameters: (string | number | null)[]): StoredMail[] {
  const rows = store.all<StoredMail & Sealed>(`SELECT * FROM mail WHERE ${where} ORDER BY seq`, ...parameters);
  return rows.map((row) => checkSeal(store, row));
}

/** The last part of `<session>-<epoch>-<seq>`. */
export function seqOf(id: string): number {
  return Number(id.split('-').at(-1));
}

export function deliveriesOf(store: Store, mailSeq: number): StoredDelivery[] {
  return deliveriesWhere(store, 'mail_seq = ? ORDER BY recipient', mailSeq);
}

/** `where`: SQL over `mail_delivery`, with its order and its parameters. */
export function deliveriesWhere(store: Store, where: string, ...parameters: (string | number)[]): StoredDelivery[] {
  return store.all<StoredDelivery>(`SELECT * FROM mail_delivery WHERE ${where}`, ...parameters);
}

/** Changes one recipient's copy. `set`: SQL with its parameters. */
export function updateDelivery(
  store: Store,
  { mail_seq: seq, recipient }: Pick<StoredDelivery, 'mail_seq' | 'recipient'>,
  set: string,
  ...parameters: (string | number | null)[]
): void {
  store.run(`UPDATE mail_delivery SET ${set} WHERE mail_seq = ? AND recipient = ?`, ...parameters, seq, recipient);
}

export function toMessage(row: StoredMail): MailMessage {
  return {
    v: MAIL_VERSION,
    session: row.id.slice(0, -`-${row.epoch}-${row.seq}`.length),
    epoch: row.epoch,
    seq: row.seq,
    id: row.id,
    agent_instance: row.agent_instance,
    from: row.sender,
    to: recipientsOf(row),
    type: row.type,
    ...(row.action === null ? {} : { action: row.action }),
    ...(row.task_id === null ? {} : { task_id: row.task_id }),
    ...(row.owner === null ? {} : { owner: row.owner }),
    ...(row.deadline === null ? {} : { deadline: row.deadline }),
    ...(row.corr === null ? {} : { corr: row.corr }),
    ttl_ms: row.ttl_ms,
    ts: row.ts,
    body_encoding: row.body_encoding,
    body: row.body,
    ...(row.body_ref === null ? {} : { body_ref: row.body_ref }),
  };
}

/** Its writer stored a list of names, and the seal shows every change. */
export function recipientsOf({ recipients }: StoredMail): string[] {
  return JSON.parse(recipients) as string[];
}

export function toDelivery(store: Store, row: StoredDelivery): Delivery {
  return {
    message: toMessage(mailBySeq(store, row.mail_seq)),
    recipient: row.recipient,
    state: row.state,
    retries: row.retries,
    acceptedAt: row.accepted_at,
    answerDue: row.answer_due,
    answer: row.answer,
    lastError: row.last_error,
  };
}

/** Finds a bit that flipped in a stored message whenever the message is read. */
function checkSeal(store: Store, { seal, ...row }: StoredMail & Sealed): StoredMail {
  if (seal !== null && rowDigest(Object.values(row)).equals(seal)) return row;
  throw corruptDatabase(store.db.name, `message ${row.seq} does not match its seal.`);
}
