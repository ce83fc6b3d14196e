import { defined } from '../text/defined.ts';
import { parseJson, type Json } from '../text/json.ts';
import { decodedText } from '../text/base64.ts';
import type { MailMessage } from '../model/mail/envelope.ts';
import type { Board } from '../model/plan/board.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import type { Delivery, Mailbox } from '../substrate/ports/mailbox.ts';
import type { MailReading } from '../rules/read-input.ts';
import { messagesFor, orderedBy, recipientsOf, type TurnStart } from '../rules/turn-mail.ts';
import { fittingMessages, type PromptMessage } from '../rules/prompts/mail-block.ts';

/** Starts the keys of messages that the engine sent and no playbook named. */
export const UNNAMED = '~';

/** Characters of a body that the plan reads. Only agents read longer ones. */
const MOST_BODY = 64 * 1024;

/** Unread messages that are considered for one turn. */
const MOST_MESSAGES = 100;

/** A message with what the plan needs to know about it. undefined: no message has this id. */
export function readMail(ledger: Ledger, id: string): MailReading | undefined {
  const { mail } = ledger;
  const message = mail.message(id);
  if (message === undefined) return undefined;
  const { attemptId = null, key = null } = mail.originOf(id) ?? {};
  const via = attemptId === null ? undefined : ledger.attempt(attemptId)?.taskId;
  const re = message.corr === undefined ? undefined : mail.message(message.corr);
  return {
    message,
    body: jsonBody(mail, message),
    ...(re === undefined
      ? {}
      : { re: { message: re, ...defined({ key: playbookKey(mail.originOf(re.id)?.key ?? null) }) } }),
    ...defined({ key: playbookKey(key), via }),
  };
}

/** Clarifications that a turn asked for and whose answers it has not read: its task cannot continue without them. */
export function unreadAnswers(mail: Mailbox, attemptId: string): string[] {
  const wasRead = (reply: MailMessage, by: string): boolean =>
    mail.deliveries(reply.id).some(({ recipient, state }) => recipient === by && state === 'accepted');
  return mail.sentBy(attemptId).flatMap((ask) => {
    if (ask.action !== 'clarify') return [];
    const read = mail.replies(ask.id).some((reply) => ask.to.includes(reply.from) && wasRead(reply, ask.from));
    return read ? [] : [ask.id];
  });
}

function playbookKey(key: string | null): string | undefined {
  return key === null || key.startsWith(UNNAMED) ? undefined : key;
}

function jsonBody(mail: Mailbox, message: MailMessage): Json {
  if (message.body_encoding !== 'json') return null;
  const text = mail.bodyOf(message);
  // A body that is no JSON any more has changed since it was sent: the plan ignores it.
  return text.length > MOST_BODY ? null : ((parseJson(text) ?? null) as Json);
}

interface TurnOf {
  readonly runId: string;
  readonly board: Board;
  readonly start: TurnStart;
  /** Its session has seen the messages that its task was added for. */
  readonly knows: boolean;
  /** Copies that turns of the same step already carry; this function adds those of this turn. */
  readonly taken: Set<string>;
}

interface PromptMail {
  readonly messages: readonly PromptMessage[];
  /** Leased to this turn when it is claimed, and accepted when it completes. */
  readonly handed: readonly { readonly id: string; readonly recipient: string }[];
}

/** The mail in the prompt of one turn. Messages that do not fit stay unread. */
export function promptMail(mail: Mailbox, { runId, board, start, knows, taken }: TurnOf): PromptMail {
  const own = recipientsOf(start, board);
  const unread = mail.unreadOf(runId, own, MOST_MESSAGES);
  // Two turns of one agent may start at once. Only one of them carries a message.
  const free = messagesFor(start, board, unread).filter((delivery) => !taken.has(copyKey(delivery)));
  const ordered = orderedBy(start, board);
  // Reviewers of work that a message added must know the message, but it asks nothing of them.
  const about = start.review === null ? ordered : (board.tasks.get(start.task)?.task.brief.mail ?? []);
  const again = knows ? [] : taskMessages(mail, about, free);
  // A message to the agent and to its role appears once, and the turn accepts both copies.
  const once = new Map([...again, ...free].toReversed().map((delivery) => [delivery.message.id, delivery]));
  const said = start.review === null ? (board.tasks.get(start.task)?.task.brief.says ?? []) : [];
  const messages = [...once.values()].toReversed().map((delivery) => {
    const message = { ...promptMessage(delivery, mail), isInTask: isSaid(delivery, said, mail) };
    return start.review === null && own.includes(delivery.recipient) ? message : { ...message, asks: null };
  });
  const shown = new Set(fittingMessages(messages, ordered).map(({ id }) => id));
  const handed = free.filter(({ message }) => shown.has(message.id));
  for (const delivery of handed) taken.add(copyKey(delivery));
  return { messages, handed: handed.map(({ message, recipient }) => ({ id: message.id, recipient })) };
}

/** Whether it is one of these messages, which a playbook names by id, or by the key under which it sent them. */
function isSaid({ message: { id } }: Delivery, said: readonly string[], mail: Mailbox): boolean {
  if (said.length === 0) return false;
  const key = mail.originOf(id)?.key;
  return said.includes(id) || (typeof key === 'string' && said.includes(`key:${key}`));
}

function copyKey({ message, recipient }: Delivery): string {
  return `${message.id} ${recipient}`;
}

/** Messages that the task was added for and that are not free: another turn has them or has read them, or they are dead. */
function taskMessages(mail: Mailbox, ids: readonly string[], free: readonly Delivery[]): Delivery[] {
  const missing = ids.filter((id) => !free.some(({ message }) => message.id === id));
  return missing.flatMap((id) => mail.deliveries(id).slice(0, 1));
}

function promptMessage({ message, answerDue, answer }: Delivery, mail: Mailbox): PromptMessage {
  const { id, from, type, action, task_id: task, body_encoding: encoding } = message;
  const body = mail.bodyOf(message);
  return {
    id,
    from,
    type,
    ...defined({ action, task }),
    asks: type === 'ask' && answer === null ? { until: answerDue } : null,
    body: encoding === 'json' ? body : (decodedText(body) ?? body),
  };
}
