import { humanLine } from '../../model/mail/human-line.ts';
import type { MailMessage } from '../../model/mail/envelope.ts';
import type { Mailbox, MailTrace } from '../../substrate/ports/mailbox.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { Locale } from './options.ts';

/** One line of a screen or two; the whole text is in `--json`. */
const WIDTH = 600;

/** A message on one line, in the protocol's form for people, and by what number it can be answered. */
export function messageLine(mail: Mailbox, message: MailMessage, locale: Locale): string {
  return plainLine(`${humanLine(message, mail.bodyOf(message), locale)} | #${message.seq}`, WIDTH);
}

/** What is called `#12` on the screen, from its whole id. */
export function shortId(id: string): string {
  return `#${id.slice(id.lastIndexOf('-') + 1)}`;
}

/** As it goes out with `--json`: the envelope, with a long body read back. */
export function messageJson(mail: Mailbox, message: MailMessage): object {
  return { event: 'message', ...message, body: mail.bodyOf(message) };
}

export function traceLine(mail: Mailbox, entry: MailTrace, locale: Locale): string {
  if (entry.event === 'message') {
    const held = entry.held === null ? '' : ' | held until its turn ends';
    return `${timeOf(entry.message.ts)}  ${messageLine(mail, entry.message, locale)}${held}`;
  }
  if (entry.event === 'presence') {
    const window = entry.meta.window_name === null ? '' : `  window ${plainLine(entry.meta.window_name, 60)}`;
    return `${timeOf(entry.meta.ts)}  registered  ${plainLine(entry.agent, 60)}${window}`;
  }
  const what = entry.event === 'ack' ? entry.ack : entry.event;
  const note = entry.event === 'ack' || entry.note === '' ? '' : `  ${plainLine(entry.note, 200)}`;
  return `${timeOf(entry.ts)}  ${what}  ${shortId(entry.id)} → ${plainLine(entry.agent, 60)}${note}`;
}

/** The shapes of the specification's logs. */
export function traceJson(entry: MailTrace): object {
  if (entry.event !== 'message') return entry;
  return { event: 'message', ...entry.message, ...(entry.held === null ? {} : { held: entry.held }) };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** The verb that answers an ask, as it is typed. */
export function answerTo({ action }: MailMessage): string {
  switch (action) {
    case 'review':
      return 'report';
    case 'verify':
      return 'done --action verified';
    case 'assign':
      return 'done';
    default:
      return 'reply "…"';
  }
}
