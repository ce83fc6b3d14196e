import { memberAt } from '../../model/mail/policy.ts';
import { errorText, isSquadError } from '../../model/errors.ts';
import type { Delivery, MailParty } from '../../substrate/ports/mailbox.ts';
import { draftOf } from '../mail/draft.ts';
import { finishedRun } from '../mail/finished-run.ts';
import { messageLine } from '../mail/mail-text.ts';
import { mailWords } from '../mail/mail-words.ts';
import { asksPerson, markedLine, ring } from '../mail/waiting.ts';
import type { MailMessage } from '../../model/mail/envelope.ts';
import type { OpenedMail } from '../mail/open-mail.ts';
import type { Locale } from '../../model/locale.ts';
import { isTaken } from '../mail/inbox.ts';
import { dueReminders } from '../mail/listen.ts';
import { ageOf } from '../../text/time.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { Typed } from './typed-line.ts';

/** A new pane shows this many earlier messages, out of the newest `LOOKED_AT`. */
const MOST_EARLIER = 20;
const LOOKED_AT = 500;
/** Messages that one look marks as read. */
const BATCH = 200;

type Message = Extract<Typed, { do: 'say' | 'reply' }>;
export type PaneMail = ReturnType<typeof openPaneMail>;

/** The mail of one member in its pane, and what the person there sends. */
export function openPaneMail(
  opened: OpenedMail,
  party: MailParty,
  { locale, windowName }: { locale: Locale; windowName: string },
  print: (line: string) => void,
) {
  const { mail, run, policy, clock } = opened;
  const { address } = party;
  const words = mailWords(locale);
  const isPerson = memberAt(policy, address)?.agent === null;
  if (isPerson) mail.register(party, { windowName });
  const reminded = new Map<string, number>();
  const lineOf = linesOf(opened, party, locale);
  const owed = (): readonly Delivery[] =>
    mail.status(run.id).unanswered.filter(({ recipient }) => recipient === address);
  const show = showMessages(opened, address, { lineOf, held: words.heldInPane, print }, (message) => {
    if (asksPerson(opened, party, message)) ring();
  });

  return {
    /** Shows new mail, in and out. A person's mail counts as read once shown; an agent reads its own. */
    look: async (): Promise<void> => {
      const shownUpTo = show();
      if (isPerson) await markRead(opened, party, shownUpTo);
    },
    /** Reports the person as online, and prints reminders of overdue answers. */
    beat: (): void => {
      // A person who watches an agent's pane does not read its mail, so its clocks do not run.
      if (isPerson) mail.beat(party);
      for (const { delivery, times } of dueReminders(owed(), address, clock.now(), reminded)) {
        reminded.set(delivery.message.id, times);
        print(`${words.notAnsweredInTime}: ${lineOf(delivery)}`);
      }
    },
    waiting: (): Waiting => {
      const { members, unanswered } = mail.status(run.id);
      const own = memberAt({ members }, address);
      const asks = unanswered.filter(({ recipient }) => recipient === address);
      return {
        asks: asks.length,
        oldestAskMs: clock.now() - (asks[0]?.message.ts ?? clock.now()),
        unread: own?.unread ?? 0,
        oldestMs: clock.now() - (own?.oldestUnread ?? clock.now()),
      };
    },
    /** Numbers of the questions that wait for this member's answer, oldest first. */
    asks: (): readonly number[] => owed().map(({ message }) => message.seq),
    showAsks: (): void => {
      const open = owed();
      if (open.length === 0) print(words.noAsks);
      for (const delivery of open) print(lineOf(delivery));
    },
    send: (typed: Message): void => {
      const refused = sendTyped(opened, party, typed);
      // The next look shows a sent message.
      if (refused !== undefined) print(`refused   ${refused}`);
    },
  };
}

function linesOf(opened: OpenedMail, party: MailParty, locale: Locale) {
  return ({ message }: Pick<Delivery, 'message'>): string => {
    const line = messageLine(opened.mail, message, locale);
    const way = message.from === party.address ? 'mail  →' : 'mail  ←';
    return `${way}   ${asksPerson(opened, party, message) ? markedLine(line) : line}`;
  };
}

/** Shows a member's new messages at each call, and returns the number of the newest message. */
function showMessages(
  { mail, run }: OpenedMail,
  address: string,
  {
    lineOf,
    held: whenHeld,
    print,
  }: { lineOf: (entry: Pick<Delivery, 'message'>) => string; held: string; print: (line: string) => void },
  arrived: (message: MailMessage) => void,
): () => number {
  let shownUpTo: number | undefined;
  return () => {
    const hasShown = shownUpTo !== undefined;
    const after = shownUpTo ?? Math.max(0, mail.session(run.id).lastSeq - LOOKED_AT);
    const lines: string[] = [];
    shownUpTo = after;
    for (const entry of mail.trace({ runId: run.id, afterSeq: after })) {
      if (entry.event !== 'message' || entry.message.seq <= after) continue;
      const { message, held } = entry;
      shownUpTo = message.seq;
      if (message.from !== address && !message.to.includes(address)) continue;
      if (hasShown) arrived(message);
      lines.push(`${lineOf(entry)}${held === null ? '' : ` | ${whenHeld}`}`);
    }
    for (const line of lines.slice(-MOST_EARLIER)) print(line);
    return shownUpTo;
  };
}

async function markRead({ mail }: OpenedMail, party: MailParty, shownUpTo: number): Promise<void> {
  const unread = mail.inbox(party, BATCH).map(({ message }) => message);
  const seen = unread.filter(({ seq }) => seq <= shownUpTo).map(({ id }) => id);
  if (seen.length > 0 && (await isTaken(process.stdout))) mail.accept(party, seen);
}

/** Returns why a message was refused. */
function sendTyped(opened: OpenedMail, party: MailParty, typed: Message): string | undefined {
  try {
    const finished = finishedRun(opened);
    if (finished !== undefined) throw finished;
    const answer = opened.mail.send(party, draftOf(opened, party, typed.do, addressee(typed), typed.text));
    if (answer.sent) return undefined;
    const { reason, field, rule } = answer.refusal;
    return `${reason} ${plainLine(field, 100)}: ${plainLine(rule, 400)}`;
  } catch (error) {
    if (!isSquadError(error)) throw error;
    const next = error.next === undefined ? '' : `. Next: ${error.next}`;
    return plainLine(`${errorText(error)}${next}`, 400);
  }
}

function addressee(typed: Message) {
  if (typed.do === 'reply') return { corr: `#${typed.to}` };
  return typed.to === undefined ? {} : { to: [typed.to] };
}

/** The messages that a member has to read and answer. */
interface Waiting {
  /** Questions without an answer. */
  readonly asks: number;
  /** Age of the oldest of them. */
  readonly oldestAskMs?: number;
  readonly unread: number;
  /** Age of the oldest unread message. */
  readonly oldestMs: number;
}

/** The title of a pane in the terminal. */
export function paneTitle(
  name: string,
  { asks, oldestAskMs = 0, unread, oldestMs }: Waiting,
  locale: Locale = 'en',
): string {
  const words = mailWords(locale);
  return [
    plainLine(name, 120),
    ...(asks === 0 ? [] : [words.toAnswer(asks, ageOf(oldestAskMs))]),
    ...(unread === 0 ? [] : [words.toRead(unread, ageOf(oldestMs))]),
  ].join(' · ');
}
