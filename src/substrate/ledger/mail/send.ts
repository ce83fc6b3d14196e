import { checkDraft, type CheckedDraft, type DraftContext } from '../../../model/mail/check-draft.ts';
import type { MailMessage } from '../../../model/mail/envelope.ts';
import type { MailPolicy } from '../../../model/mail/policy.ts';
import type { MailRefusal } from '../../../model/mail/refusal.ts';
import type { MailMember } from '../../../model/mail/route.ts';
import type { Store } from '../store.ts';
import type { MailParty, SendAnswer } from '../../ports/mailbox.ts';
import { authorityOf, instanceOf, partyKey } from './party.ts';
import { refuseForeign } from './own-task.ts';
import { post } from './post.ts';
import { recordRefusal } from './refuse.ts';
import { mailById, mailWhere, toMessage, type StoredMail } from './rows.ts';
import { ensureSession, epochOf } from './session.ts';
import { findTask } from './tasks.ts';

/** Of one recipient; the next is refused. */
export const MOST_UNREAD = 1_000;

/** Of one turn: more is no work, and would keep everybody else busy. Asks make tasks. */
export const MOST_OF_TURN = 200;
export const MOST_ASKS = 50;

/** Of a sender's own name for a message. */
const MOST_KEY_CHARACTERS = 200;

/** Within a write transaction: the message, or its refusal on record. */
export function send(store: Store, party: MailParty, draft: unknown, key: string | undefined): SendAnswer {
  const authority = authorityOf(store, party);
  if (!('member' in authority)) return refuse(store, party, authority);
  if (key !== undefined && (key === '' || key.length > MOST_KEY_CHARACTERS)) {
    return refuse(store, party, invalid('key', `has 1 to ${MOST_KEY_CHARACTERS} characters`));
  }
  const known = key === undefined ? undefined : sentBefore(store, party.runId, partyKey(party), key);
  if (known !== undefined) return { sent: true, message: toMessage(store, known), repeated: true };
  const checked = checkFor(store, party, authority, draft);
  if (!checked.ok) return refuse(store, party, checked.refusal);
  const row = post(store, {
    ...checked.draft,
    runId: party.runId,
    party: partyKey(party),
    key: key ?? null,
    held: party.by === 'turn' && changesPlan(checked.draft) ? party.attemptId : null,
    instance: instanceOf(party),
    from: authority.member.address,
    reviewDeadline: reviewDeadlineOf(checked.draft),
  });
  return { sent: true, message: toMessage(store, row), repeated: false };
}

/**
 * Checks a message's form and its sender's rights, by the same rules for every sender. Within a write transaction. `turn`: this
 * turn already knows its own assignments; others know them once the turn has ended.
 */
export function checkForm(
  store: Store,
  runId: string,
  { member, policy }: { readonly member: MailMember; readonly policy: MailPolicy },
  draft: unknown,
  turn?: string,
): { ok: true; draft: CheckedDraft } | { ok: false; refusal: MailRefusal } {
  const context: DraftContext = {
    session: ensureSession(store),
    epoch: epochOf(store, runId),
    now: store.clock.now(),
    sender: member,
    policy,
    known: (id) => visibleTo(store, runId, member.address, id),
    task: (id) => findTask(store, runId, id)?.status ?? assignedInTurn(store, turn, id),
  };
  return checkDraft(draft, context);
}

/** The same, and whether there is room for it. */
function checkFor(
  store: Store,
  party: MailParty,
  authority: { readonly member: MailMember; readonly policy: MailPolicy },
  draft: unknown,
): ReturnType<typeof checkForm> {
  const { runId } = party;
  const checked = checkForm(store, runId, authority, draft, party.by === 'turn' ? party.attemptId : undefined);
  if (!checked.ok) return checked;
  const foreign = refuseForeign(store, party, authority.member, checked.draft);
  if (foreign !== undefined) return { ok: false, refusal: foreign };
  const flood = floodOf(store, party, checked.draft.type === 'ask');
  if (flood !== undefined) return { ok: false, refusal: { reason: 'queue_full', field: '', rule: flood } };
  const full = checked.draft.to.findIndex((recipient) => isFull(store, runId, recipient));
  if (full === -1) return checked;
  const rule = `has read all but ${MOST_UNREAD - 1} of its messages; wait until it has`;
  return { ok: false, refusal: { reason: 'queue_full', field: `to[${full}]`, rule } };
}

/** Why a turn may send no more; undefined: it may. People and panes are as many as hands can type. */
function floodOf({ db }: Store, party: MailParty, asks: boolean): string | undefined {
  if (party.by !== 'turn') return undefined;
  const sql = "SELECT count(*) AS sent, coalesce(sum(type = 'ask'), 0) AS asked FROM mail WHERE party = ?";
  const { sent = 0, asked = 0 } = db.prepare<[string], { sent: number; asked: number }>(sql).get(partyKey(party)) ?? {};
  if (sent >= MOST_OF_TURN) return `is one of at most ${MOST_OF_TURN} messages of a turn`;
  return asks && asked >= MOST_ASKS ? `is one of at most ${MOST_ASKS} asks of a turn` : undefined;
}

function assignedInTurn(store: Store, turn: string | undefined, id: string): 'open' | undefined {
  if (turn === undefined) return undefined;
  const held = mailWhere(store, "held = ? AND action = 'assign' AND task_id = ?", turn, id);
  return held.length > 0 ? 'open' : undefined;
}

export function sentBefore(store: Store, runId: string, party: string, key: string): StoredMail | undefined {
  return mailWhere(store, 'run_id = ? AND party = ? AND sent_key = ?', runId, party, key)[0];
}

/** Of a review: from its body, where the check has put it. */
export function reviewDeadlineOf({ action, fields }: CheckedDraft): number | null {
  const deadline = action === 'review' ? fields?.['review_deadline'] : undefined;
  return typeof deadline === 'number' ? deadline : null;
}

/** These take effect with the turn that sent them, or not at all. */
function changesPlan({ type, action }: CheckedDraft): boolean {
  return type === 'done' || type === 'fail' || action === 'assign' || action === 'answer';
}

/** A message of another run, or one that its recipients cannot see, is one that nobody can reply to. */
function visibleTo(store: Store, runId: string, address: string, id: string): MailMessage | undefined {
  const row = mailById(store, id);
  if (row === undefined || row.run_id !== runId) return undefined;
  const hidden = 'SELECT 1 FROM mail_delivery WHERE mail_seq = ? AND held = 1 LIMIT 1';
  if (row.sender !== address && store.db.prepare(hidden).get(row.seq) !== undefined) return undefined;
  return toMessage(store, row);
}

function isFull({ db }: Store, runId: string, recipient: string): boolean {
  const sql = `SELECT 1 FROM mail_delivery WHERE run_id = ? AND recipient = ? AND state IN ('waiting', 'leased')
    LIMIT 1 OFFSET ${MOST_UNREAD - 1}`;
  return db.prepare(sql).get(runId, recipient) !== undefined;
}

/** Records the refusal and sends nothing. Within a write transaction. */
export function refuse(store: Store, party: MailParty, refusal: MailRefusal): SendAnswer {
  recordRefusal(store, { stream: party.runId }, party, refusal);
  return { sent: false, refusal };
}

function invalid(field: string, rule: string): MailRefusal {
  return { reason: 'invalid_format', field, rule };
}
