import type { Json } from '../text/json.ts';
import type { MailMessage } from '../model/mail/envelope.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import type { Delivery, Mailbox } from '../substrate/ports/mailbox.ts';
import type { MailReading } from './decisions/read-input.ts';
import type { Letter } from './prompts/mail-block.ts';

/** Begins the keys of what the engine sent and no playbook named. */
export const UNNAMED = '~';

/** Characters of a body that the plan is made with; longer ones are read by agents alone. */
const MOST_BODY = 64 * 1024;

/** A message with what the plan has to know about it. undefined: there is none of this id. */
export function readMail(ledger: Ledger, id: string): MailReading | undefined {
  const { mail } = ledger;
  const message = mail.message(id);
  if (message === undefined) return undefined;
  const { attemptId = null, key: sentKey = null } = mail.originOf(id) ?? {};
  const key = nameOf(sentKey);
  const via = attemptId === null ? undefined : ledger.attempt(attemptId)?.taskId;
  const re = message.corr === undefined ? undefined : mail.message(message.corr);
  const reKey = re === undefined ? null : nameOf(mail.originOf(re.id)?.key ?? null);
  return {
    message,
    body: bodyOf(mail, message),
    ...(re === undefined ? {} : { re: { message: re, ...(reKey === null ? {} : { key: reKey }) } }),
    ...(key === null ? {} : { key }),
    ...(via === undefined ? {} : { via }),
  };
}

/** Questions of a turn that cannot go on without their answers: clarifications of which it has read none. */
export function unreadAnswers(mail: Mailbox, attemptId: string): string[] {
  const asks = mail.sentBy(attemptId).filter(({ action }) => action === 'clarify');
  const isRead = (ask: MailMessage): boolean =>
    mail.replies(ask.id).some((reply) => ask.to.includes(reply.from) && wasRead(mail, reply, ask.from));
  return asks.filter((ask) => !isRead(ask)).map(({ id }) => id);
}

function nameOf(key: string | null): string | null {
  return key === null || key.startsWith(UNNAMED) ? null : key;
}

/** As it goes into a prompt. */
export function letterOf({ message, answerDue, answer }: Delivery, mail: Mailbox): Letter {
  const { id, from, type, action, task_id: task } = message;
  return {
    id,
    from,
    type,
    ...(action === undefined ? {} : { action }),
    ...(task === undefined ? {} : { task }),
    asks: type === 'ask' && answer === null ? { until: answerDue } : null,
    body: mail.bodyOf(message),
  };
}

function wasRead(mail: Mailbox, { id }: MailMessage, by: string): boolean {
  return mail.deliveries(id).some(({ recipient, state }) => recipient === by && state === 'accepted');
}

function bodyOf(mail: Mailbox, message: MailMessage): Json {
  if (message.body_encoding !== 'json') return null;
  const text = mail.bodyOf(message);
  if (text.length > MOST_BODY) return null;
  try {
    return JSON.parse(text) as Json;
  } catch {
    // It was checked when it came; a file that was changed since is nobody's word.
    return null;
  }
}
