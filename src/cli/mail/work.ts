import type { MailMessage } from '../../model/mail/envelope.ts';
import { bodyObject } from './asked.ts';
import type { OpenedMail } from './open-mail.ts';
import type { Body, Work } from './sending.ts';

/** How far back it is looked, in messages of the session. */
const MOST_LOOKED_AT = 500;

/** What a member is at work on: the newest ask that it still owes an answer to, else the newest message to or from it that is about a task. */
export function workOf({ mail, run }: OpenedMail, address: string): Work {
  const owed = mail
    .status(run.id)
    .unanswered.filter(({ recipient, message }) => recipient === address && message.action !== 'clarify')
    .at(-1)?.message;
  const message = owed ?? newestAbout({ mail, run }, address);
  return message === undefined ? {} : workFrom(message, bodyObject(mail.bodyOf(message)));
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
export function workFrom({ task_id: task, owner, from, type }: MailMessage, body: Body): Work {
  const codePath = textOf(body['code_path']) ?? firstText(body['files']);
  const docPath = textOf(body['doc_path']);
  const context = firstText(body['success_criteria']) ?? textOf(body['changes_summary']) ?? textOf(body['context']);
  return {
    ...(task === undefined ? {} : { task }),
    ...(owner === undefined ? (type === 'ask' ? { owner: from } : {}) : { owner }),
    ...(codePath === undefined ? {} : { codePath }),
    ...(docPath === undefined ? {} : { docPath }),
    ...(context === undefined ? {} : { context }),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function firstText(value: unknown): string | undefined {
  return Array.isArray(value) ? textOf(value[0]) : undefined;
}
