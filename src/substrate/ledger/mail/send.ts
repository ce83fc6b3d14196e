import { checkDraft, type CheckedDraft } from '../../../model/mail/check-draft.ts';
import type { MailMessage } from '../../../model/mail/envelope.ts';
import { catchRefusal, type MailRefusal, refuse } from '../../../model/mail/refusal.ts';
import { isSameName } from '../../../model/mail/address.ts';
import type { MailMember } from '../../../model/mail/route.ts';
import { answersOnce, changesPlan, opensTask } from '../../../model/mail/effects.ts';
import { MAIN, ROUTER } from '../../../model/mail/vocabulary.ts';
import { appendEvent, type NewEvent } from '../events.ts';
import type { Store } from '../store.ts';
import type { MailParty, SendAnswer } from '../../ports/mailbox.ts';
import { refuseClosed } from './closing.ts';
import { type Authority, authorityOf, instanceOf, partyKey, turnIdOf } from './party.ts';
import { post } from './post.ts';
import { deliveriesOf, mailById, mailWhere, recipientsOf, type StoredMail, toMessage } from './rows.ts';
import { ensureSession, epochOf } from './session.ts';
import { findTask, listTasks } from './effects.ts';
import { grouped } from '../../../text/counted.ts';

/** Unread messages of one recipient. */
const MOST_UNREAD = 1_000;

/** Messages of one turn, and asks among them, because each ask may add a task. */
const MOST_OF_TURN = 200;
const MOST_ASKS = 50;

const MOST_KEY_CHARACTERS = 200;

/** Within a write transaction: sends the message, or records why it is refused. */
export function send(store: Store, party: MailParty, draft: unknown, key: string | undefined): SendAnswer {
  const sent = catchRefusal(() => sendAllowed(store, party, draft, key));
  return sent.ok ? sent.value : refuseParty(store, party, sent.refusal);
}

function sendAllowed(store: Store, party: MailParty, draft: unknown, key: string | undefined): SendAnswer {
  const authority = authorityOf(store, party);
  if (key !== undefined && (key === '' || key.length > MOST_KEY_CHARACTERS)) {
    refuse('invalid_format', 'key', `has 1 to ${MOST_KEY_CHARACTERS} characters`);
  }
  const known = key === undefined ? undefined : sentBefore(store, party.runId, partyKey(party), key);
  if (known !== undefined) return { sent: true, message: toMessage(known), repeated: true };
  refuseClosed(store, party);
  const checked = checkFor(store, party, authority, draft);
  const row = post(store, {
    ...checked,
    runId: party.runId,
    party: partyKey(party),
    key: key ?? null,
    held: changesPlan(checked) ? turnIdOf(party) : null,
    instance: instanceOf(store, party),
    from: authority.member.address,
  });
  return { sent: true, message: toMessage(row), repeated: false };
}

/**
 * Within a write transaction: checks a message's form and its sender's rights, by the same rules for every sender. `turn`: the turn
 * that sends it, whose own deferred assignments it may name.
 */
export function checkForm(
  store: Store,
  runId: string,
  { member, policy }: Authority,
  draft: unknown,
  turn: string | null = null,
): CheckedDraft {
  return checkDraft(draft, {
    session: ensureSession(store),
    epoch: epochOf(store),
    now: store.clock.now(),
    sender: member,
    policy,
    known: (id) => visibleTo(store, runId, member.address, id),
    task: (id) => findTask(store, runId, id)?.status ?? assignedInTurn(store, turn, id),
    openTasks: () => openTasks(store, runId),
  });
}

/** Beyond `checkForm`: the sender may assign the task, and the recipients have room for the message. */
function checkFor(store: Store, party: MailParty, authority: Authority, draft: unknown): CheckedDraft {
  const { runId } = party;
  const checked = checkForm(store, runId, authority, draft, turnIdOf(party));
  refuseForeignTask(store, party, authority.member, checked);
  refuseAnswered(store, authority.member, checked);
  refuseOverLimit(store, party, checked);
  refuseFullInbox(store, runId, checked);
  return checked;
}

/**
 * Refuses to hand on another agent's task. An agent's own are its turn's, those assigned to it and those it assigned. MAIN and people may
 * assign any. Only the plan knows tasks that have not started, so it checks again once the message takes effect.
 */
function refuseForeignTask(store: Store, party: MailParty, { address, role }: MailMember, draft: CheckedDraft): void {
  const { task_id: task } = draft;
  if (!opensTask(draft) || task === undefined || party.by === 'person' || address === MAIN) return;
  const turn = turnIdOf(party);
  const own = store.value<string>('SELECT task_id FROM attempt WHERE id = ?', turn);
  if (task === own) return;
  const assigned = mailWhere(store, EFFECTIVE, party.runId, task, turn);
  const isMine = (name: string): boolean => isSameName(name, address) || isSameName(name, role);
  if (assigned.some((mail) => isMine(mail.sender) || recipientsOf(mail).some(isMine))) return;
  if (assigned.length === 0 && !isPlanned(store, party.runId, task)) return;
  const may = own === undefined ? 'a task of its own or a new one' : `its own task ${own} or a new one`;
  const rule = `${task} belongs to another agent; ${address} may assign ${may}. To have ${task} changed, use \`send\` or \`ask\` to MAIN or to the agent that has it`;
  refuse('not_authorized', 'task_id', rule);
}

/** SQL for assignments that took effect, and those that this turn has deferred. */
const EFFECTIVE = `run_id = ? AND action = 'assign' AND task_id = ? AND NOT EXISTS (
  SELECT 1 FROM mail_delivery WHERE mail_seq = mail.seq AND (mail_delivery.state = 'void' OR (mail_delivery.held = 1 AND mail.held IS NOT ?)))`;

function isPlanned(store: Store, runId: string, task: string): boolean {
  return store.has('SELECT 1 FROM attempt WHERE run_id = ? AND task_id = ? LIMIT 1', runId, task);
}

/** Refuses a turn that has sent enough. People and panes have no limit, because they type. */
function refuseOverLimit(store: Store, party: MailParty, { type }: CheckedDraft): void {
  if (party.by !== 'turn') return;
  const sql = "SELECT count(*) AS sent, coalesce(sum(type = 'ask'), 0) AS asked FROM mail WHERE party = ?";
  const { sent = 0, asked = 0 } = store.one<{ sent: number; asked: number }>(sql, partyKey(party)) ?? {};
  const full = sent >= MOST_OF_TURN ? `${MOST_OF_TURN} messages` : `${MOST_ASKS} asks`;
  if (sent < MOST_OF_TURN && (type !== 'ask' || asked < MOST_ASKS)) return;
  const rule = `limit of ${full} per turn reached; finish the turn, and put what is left into its answer`;
  refuse('queue_full', '', rule);
}

function refuseFullInbox(store: Store, runId: string, { to }: CheckedDraft): void {
  const sql = `SELECT 1 FROM mail_delivery WHERE run_id = ? AND recipient = ? AND state IN ('waiting', 'leased')
    LIMIT 1 OFFSET ${MOST_UNREAD - 1}`;
  for (const [index, recipient] of to.entries()) {
    if (!store.has(sql, runId, recipient)) continue;
    const rule = `recipient's inbox is full (${grouped(MOST_UNREAD)} unread); send to ${recipient} again once it has read some`;
    refuse('queue_full', `to[${index}]`, rule);
  }
}

function openTasks(store: Store, runId: string): readonly string[] {
  const open = listTasks(store, runId).filter(({ status }) => status !== 'done' && status !== 'failed');
  return open.map(({ id }) => id);
}

function assignedInTurn(store: Store, turn: string | null, id: string): 'open' | undefined {
  const deferred = mailWhere(store, "held = ? AND action = 'assign' AND task_id = ?", turn, id);
  return deferred.length > 0 ? 'open' : undefined;
}

export function sentBefore(store: Store, runId: string, party: string, key: string): StoredMail | undefined {
  return mailWhere(store, 'run_id = ? AND party = ? AND sent_key = ?', runId, party, key)[0];
}

/** A reply can name only a message of this run that its sender can see. */
function visibleTo(store: Store, runId: string, address: string, id: string): MailMessage | undefined {
  const row = mailById(store, id);
  if (row === undefined || row.run_id !== runId) return undefined;
  const hidden = 'SELECT 1 FROM mail_delivery WHERE mail_seq = ? AND held = 1 LIMIT 1';
  if (row.sender !== address && store.has(hidden, row.seq)) return undefined;
  return toMessage(row);
}

/** Within a write transaction: records the refusal and sends nothing. */
export function refuseParty(store: Store, party: MailParty, refusal: MailRefusal): SendAnswer {
  recordRefusal(store, { stream: party.runId }, party, refusal);
  return { sent: false, refusal };
}

interface Refused {
  readonly by: MailParty['by'] | 'engine' | 'token';
  /** null: no member. */
  readonly address: string | null;
}

/** Within a write transaction. */
export function recordRefusal(
  store: Store,
  event: Pick<NewEvent, 'stream' | 'cause' | 'epoch'>,
  { by, address }: Refused,
  { reason, field, rule }: MailRefusal,
): void {
  appendEvent(store, { ...event, type: 'mail-refused', data: { by, address, reason, field, rule } });
}

/**
 * Refuses a second answer to a question, because the one who asked continues with the first one. An answer that waits for the end of
 * its turn is one; one that is void is none.
 */
function refuseAnswered(store: Store, { address, role }: MailMember, draft: CheckedDraft): void {
  const ask = draft.corr === undefined ? undefined : mailById(store, draft.corr);
  if (ask === undefined || !answersOnce(ask.action, draft)) return;
  const answer = effective(store, ask, [address, role]) ?? waiting(store, ask, address);
  if (answer === undefined) return;
  const rule = `is a question that ${answer.sender} has answered, with #${answer.seq}; to add something, use \`send\``;
  refuse('invalid_format', 'corr', rule);
}

/** The answer of this member, or of another one of its role. What the router says in its place is none. */
function effective(store: Store, ask: StoredMail, names: readonly string[]): StoredMail | undefined {
  const [own] = deliveriesOf(store, ask.seq).filter(({ recipient }) => names.includes(recipient));
  const answer = own?.answer === null || own === undefined ? undefined : mailById(store, own.answer);
  return answer === undefined || answer.sender === ROUTER || answer.type === 'report' ? undefined : answer;
}

function waiting(store: Store, ask: StoredMail, address: string): StoredMail | undefined {
  const held = `corr = ? AND sender = ? AND EXISTS (
    SELECT 1 FROM mail_delivery WHERE mail_seq = mail.seq AND held = 1 AND state <> 'void')`;
  return mailWhere(store, held, ask.id, address).find((mail) => answersOnce(ask.action, mail));
}
