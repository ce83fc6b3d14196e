import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Host } from '../../engine/compose.ts';
import { humanLine } from '../../model/mail/human-line.ts';
import type { MailMessage } from '../../model/mail/envelope.ts';
import { MAIL_KINDS } from '../../model/mail/kind.ts';
import type { Mailbox, MailTrace } from '../../substrate/ports/mailbox.ts';
import { plainLine } from '../../text/plain-text.ts';
import { isoTime } from '../../text/time.ts';
import type { Locale } from '../../model/locale.ts';
import { routerNote } from '../../model/mail/router-note.ts';
import { mailWords } from './mail-words.ts';
import type { MailOptions } from './options.ts';

/** The longest line, in characters. The whole text is in `--json`. */
const WIDTH = 600;

/** A message on one line, in the protocol's form for people, with the number to answer it by. */
export function messageLine(mail: Mailbox, message: MailMessage, locale: Locale): string {
  return plainLine(`${humanLine(message, mail.bodyOf(message), locale)} | #${message.seq}`, WIDTH);
}

/** `#12`, from a whole id. */
export function shortId(id: string): string {
  return `#${id.slice(id.lastIndexOf('-') + 1)}`;
}

/** A message as `--json` prints it: the envelope, with a long body read back. */
export function messageJson(mail: Mailbox, message: MailMessage): object {
  return { event: 'message', ...message, body: mail.bodyOf(message) };
}

export function traceLine(mail: Mailbox, entry: MailTrace, locale: Locale): string {
  const words = mailWords(locale);
  if (entry.event === 'message') {
    const deferred = entry.held === null ? '' : ` | ${words.held}`;
    return `${isoTime(entry.message.ts)}  ${messageLine(mail, entry.message, locale)}${deferred}`;
  }
  if (entry.event === 'presence') {
    const window = entry.meta.window_name === null ? '' : `  ${words.window(plainLine(entry.meta.window_name, 60))}`;
    return `${isoTime(entry.meta.ts)}  ${words.happened.registered ?? 'registered'}  ${plainLine(entry.agent, 60)}${window}`;
  }
  const what = entry.event === 'ack' ? entry.ack : entry.event;
  const note = entry.event === 'ack' || entry.note === '' ? '' : `  ${plainLine(routerNote(entry.note, locale), 200)}`;
  return `${isoTime(entry.ts)}  ${words.happened[what] ?? what}  ${shortId(entry.id)} → ${plainLine(entry.agent, 60)}${note}`;
}

/** The shapes of the protocol's logs. */
export function traceJson(entry: MailTrace): object {
  if (entry.event !== 'message') return entry;
  return { event: 'message', ...entry.message, ...(entry.held === null ? {} : { held: entry.held }) };
}

/** The command that answers an ask: of the kind that answers the fewest others. */
export function answerTo({ action }: MailMessage): string {
  const [kind] = MAIL_KINDS.filter(({ answers }) => answers?.some((one) => one === action)).toSorted(
    (a, b) => (a.answers?.length ?? 0) - (b.answers?.length ?? 0),
  );
  if (kind === undefined || kind.words?.command !== undefined) return `${kind?.words?.command?.name ?? 'reply'} "…"`;
  const { name = 'done', action: own } = kind.command ?? {};
  return own === undefined ? name : `${name} --action ${own}`;
}

/**
 * The language that was asked for, else `mail.locale` of the settings; programs read none. A file is parsed only if one mentions a
 * locale, because that takes longer than reading mail.
 */
export async function localeOf(host: Host, root: string, { locale, json }: MailOptions): Promise<Locale> {
  if (json === true) return 'en';
  if (locale !== undefined) return locale;
  const files = [join(root, 'squad.yaml'), join(host.configHome, 'squad', 'config.yaml')];
  if (!files.some(mentionsLocale)) return 'en';
  const [{ readSettings }, { compose }] = await Promise.all([
    import('../../squad/preflight/read-settings.ts'),
    import('../../engine/compose.ts'),
  ]);
  return (await readSettings(root, compose(host), host)).settings.mail.locale;
}

function mentionsLocale(path: string): boolean {
  try {
    return readFileSync(path, 'utf8').includes('locale');
  } catch {
    // It is absent, or the command that parses it reports what is wrong.
    return false;
  }
}
