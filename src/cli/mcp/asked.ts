import { isJsonObject } from '../../text/json.ts';
import type { MailMessage } from '../../model/mail/envelope.ts';
import type { Checked } from '../../model/mail/refusal.ts';
import { invalid, type ToolDesk } from './tool.ts';

/** What an answer answers. */
export interface Asked {
  readonly id: string;
  /** undefined: nobody knows that message; the router says so. */
  readonly message: MailMessage | undefined;
  /** Empty where it says nothing that has fields. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** The message that is named, or else the one open ask of that task; refused where none or several fit. */
export function findAsked(
  { mail, party }: ToolDesk,
  { corr, task_id }: { readonly corr?: string | undefined; readonly task_id?: string | undefined },
): Checked<Asked> {
  if (corr === undefined) {
    const open = mail.openAsk(party, task_id);
    if (typeof open === 'string') return invalid('corr', `names what is answered: ${open}`);
    return { ok: true, value: askedOf(mail.bodyOf(open.message), open.message) };
  }
  // Whoever it is not for learns nothing of it, not even what it asks for.
  const message = mail.messageFor(party, corr)?.message;
  return {
    ok: true,
    value: message === undefined ? { id: corr, message, body: {} } : askedOf(mail.bodyOf(message), message),
  };
}

function askedOf(text: string, message: MailMessage): Asked {
  return { id: message.id, message, body: fieldsOf(text) };
}

function fieldsOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    // Base64, or a text that is no JSON: it has no fields.
    return {};
  }
}
