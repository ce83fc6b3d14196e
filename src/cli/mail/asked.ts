import type { MailMessage } from '../../model/mail/envelope.ts';
import type { AskedMessage } from '../../model/mail/kind-entry.ts';
import type { Mailbox, MailParty } from '../../substrate/ports/mailbox.ts';
import { fieldsOf } from '../../text/json.ts';

/**
 * The message that `id` names, or else the newest open ask about that task; a text says why there is not exactly one. A party
 * learns nothing about messages of others: only their id remains.
 */
export function findAsked(
  mail: Mailbox,
  party: MailParty,
  id: string | undefined,
  task: string | undefined,
): AskedMessage | string {
  if (id === undefined) {
    const open = mail.openAsk(party, task);
    return typeof open === 'string' ? open : askedOf(mail, open.message);
  }
  const message = mail.messageFor(party, id)?.message;
  return message === undefined ? { id, body: {} } : askedOf(mail, message);
}

function askedOf(mail: Mailbox, message: MailMessage): AskedMessage {
  const { id, from, action, task_id } = message;
  return { id, from, action, task_id, body: fieldsOf(mail.bodyOf(message)) };
}
