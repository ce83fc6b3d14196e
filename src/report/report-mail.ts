import { mailLeft } from '../graph/decisions/mail-left.ts';
import type { Delivery, MailStatus } from '../substrate/ports/mailbox.ts';
import { code, inline, table } from './markdown.ts';

const MOST_ROWS = 20;

/** The number of messages, and those that no member has read or answered; undefined if there was no mail. */
export function mailSection(mail: MailStatus | undefined): string | undefined {
  if (mail === undefined || mail.counts.messages + mail.counts.refused === 0) return undefined;
  const { counts, unanswered, dead } = mail;
  const refused = counts.refused === 0 ? '' : ` ${counts.refused} more were refused.`;
  const left = mailLeft(mail);
  const open = [...dead, ...unanswered.filter(({ message }) => !dead.some((one) => one.message.id === message.id))];
  return [
    '## Mail',
    `Messages: ${counts.messages}.${refused} ${left === undefined ? 'All were read and answered.' : inline(`${left}.`)} \`squad mail trace\` shows it all.`,
    ...(open.length === 0 ? [] : [table(['id', 'from', 'to', 'what', 'why'], open.slice(0, MOST_ROWS).map(rowOf))]),
    ...(open.length > MOST_ROWS ? [`${open.length - MOST_ROWS} more.`] : []),
  ].join('\n\n');
}

function rowOf({ message, recipient, state, lastError }: Delivery): string[] {
  const { id, from, type, action } = message;
  const what = action === undefined ? type : `${type}/${action}`;
  const why = state === 'dead' ? (lastError ?? '') : 'not answered';
  return [code(id), inline(from), inline(recipient), what, inline(why)];
}
