import { mailLeft } from '../../rules/mail-left.ts';
import type { Delivery, MailStatus } from '../../substrate/ports/mailbox.ts';
import { code, ownWords, paragraph, section, table, words, type Section, type Text } from './document.ts';

const MOST_ROWS = 20;

/** The number of messages, and those that no member has read or answered; undefined if there was no mail. */
export function mailSection(mail: MailStatus | undefined): Section | undefined {
  if (mail === undefined || mail.counts.messages + mail.counts.refused === 0) return undefined;
  const { counts, unanswered, dead } = mail;
  const refused = counts.refused === 0 ? '' : ` ${counts.refused} more were refused.`;
  const left = mailLeft(mail);
  const open = [...dead, ...unanswered.filter(({ message }) => !dead.some((one) => one.message.id === message.id))];
  const how = left === undefined ? ownWords('All were read, and no question is open.') : `${left}.`;
  return section('Mail', [
    paragraph(
      words`Messages: ${counts.messages}.${ownWords(refused)} ${how} ${code('squad mail trace')} shows it all.`,
    ),
    ...(open.length === 0 ? [] : [table(['id', 'from', 'to', 'what', 'why'], open.slice(0, MOST_ROWS).map(rowOf))]),
    ...(open.length > MOST_ROWS ? [paragraph(words`${open.length - MOST_ROWS} more.`)] : []),
  ]);
}

function rowOf({ message, recipient, state, lastError }: Delivery): Text[] {
  const { id, from, type, action } = message;
  const what = action === undefined ? type : `${type}/${action}`;
  const why = state === 'dead' ? (lastError ?? '') : 'not answered';
  return [code(id), from, recipient, ownWords(what), why];
}
