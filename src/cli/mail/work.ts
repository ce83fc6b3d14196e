import type { Given } from '../../model/mail/compose.ts';
import type { MailMessage } from '../../model/mail/envelope.ts';
import { defined } from '../../text/defined.ts';
import { fieldsOf } from '../../text/json.ts';
import type { OpenedMail } from './open-mail.ts';

/** How many messages of the session are looked through. */
const MOST_LOOKED_AT = 500;

/**
 * The task, owner, place and context of what a member is working on: from the newest ask that it still has to answer, else
 * from the newest message to or from it about a task.
 */
export function workOf({ mail, run }: OpenedMail, address: string): Given {
  const owed = mail
    .status(run.id)
    .unanswered.filter(({ recipient, message }) => recipient === address && message.action !== 'clarify')
    .at(-1)?.message;
  const message = owed ?? newestAbout({ mail, run }, address);
  return message === undefined ? {} : workFrom(message, fieldsOf(mail.bodyOf(message)));
}

function newestAbout({ mail, run }: Pick<OpenedMail, 'mail' | 'run'>, address: string): MailMessage | undefined {
  const afterSeq = Math.max(0, mail.session(run.id).lastSeq - MOST_LOOKED_AT);
  let newest: MailMessage | undefined;
  for (const entry of mail.trace({ runId: run.id, afterSeq })) {
    if (entry.event !== 'message' || entry.message.task_id === undefined) continue;
    const { from, to } = entry.message;
    if (from === address || to.includes(address)) newest = entry.message;
  }
  return newest;
}

/** Pure. */
export function workFrom({ task_id, owner, from, type }: MailMessage, body: Readonly<Record<string, unknown>>): Given {
  return defined({
    task_id,
    owner: owner ?? (type === 'ask' ? from : undefined),
    code_path: textOf(body['code_path']) ?? firstText(body['files']),
    doc_path: textOf(body['doc_path']),
    context: firstText(body['success_criteria']) ?? textOf(body['changes_summary']) ?? textOf(body['context']),
  });
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function firstText(value: unknown): string | undefined {
  return Array.isArray(value) ? textOf(value[0]) : undefined;
}
