import { errorText, isSquadError } from '../../model/errors.ts';
import type { MailDraft } from '../../model/mail/envelope.ts';
import type { Delivery, MailParty } from '../../substrate/ports/mailbox.ts';
import { draftOf } from '../mail/draft.ts';
import { finishedRun } from '../mail/finished-run.ts';
import { messageLine } from '../mail/mail-text.ts';
import type { OpenedMail } from '../mail/open-mail.ts';
import type { Locale } from '../mail/options.ts';
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

/** The mail of one member in its pane, and what the person there sends. */
export interface PaneMail {
  /** Shows new mail, in and out. A person's mail counts as read once shown; an agent reads its own. */
  look(): Promise<void>;
  /** Reports the person as online, and prints reminders of overdue answers. */
  beat(): void;
  waiting(): Waiting;
  /** Numbers of the questions that wait for this member's answer, oldest first. */
  asks(): readonly number[];
  showAsks(): void;
  send(typed: Extract<Typed, { do: 'say' | 'reply' }>): void;
}

export function openPaneMail(
  opened: OpenedMail,
  party: MailParty,
  { locale, windowName }: { locale: Locale; windowName: string },
  print: (line: string) => void,
): PaneMail {
  const { mail, run, policy, clock } = opened;
  const { address } = party;
  const isPerson = policy.members.find((member) => member.address === address)?.agent === null;
  if (isPerson) mail.register(party, { windowName });
  const reminded = new Map<string, number>();
  let shownUpTo: number | undefined;

  const owed = (): readonly Delivery[] =>
    mail.status(run.id).unanswered.filter(({ recipient }) => recipient === address);
  const lineOf = ({ message }: Pick<Delivery, 'message'>): string =>
    `${message.from === address ? 'mail  →' : 'mail  ←'}   ${messageLine(mail, message, locale)}`;

  const show = (): void => {
    const after = shownUpTo ?? Math.max(0, mail.session(run.id).lastSeq - LOOKED_AT);
    const lines: string[] = [];
    for (const entry of mail.trace({ runId: run.id, afterSeq: after })) {
      if (entry.event !== 'message' || entry.message.seq <= after) continue;
      const { message, held } = entry;
      shownUpTo = message.seq;
      if (message.from !== address && !message.to.includes(address)) continue;
      lines.push(`${lineOf(entry)}${held === null ? '' : ' | once its turn ends'}`);
    }
    for (const line of after === shownUpTo ? [] : lines.slice(-MOST_EARLIER)) print(line);
    shownUpTo ??= after;
  };
  const markRead = async (): Promise<void> => {
    const unread = mail.inbox(party, BATCH).map(({ message }) => message);
    const seen = unread.filter(({ seq }) => seq <= (shownUpTo ?? 0));
    if (seen.length === 0 || !(await isTaken(process.stdout))) return;
    mail.accept(
      party,
      seen.map(({ id }) => id),
    );
  };
  const draftFor = ({ do: command, to, text }: Extract<Typed, { do: 'say' | 'reply' }>): MailDraft => {
    const about = command === 'reply' ? { corr: `#${to}` } : to === undefined ? {} : { to: [to] };
    return draftOf(opened, party, command, about, text);
  };

  return {
    look: async () => {
      show();
      if (isPerson) await markRead();
    },
    beat: () => {
      // A person who watches an agent's pane does not read its mail, so its clocks do not run.
      if (isPerson) mail.beat(party);
      for (const { delivery, times } of dueReminders(owed(), address, clock.now(), reminded)) {
        reminded.set(delivery.message.id, times);
        print(`not answered in time: ${lineOf(delivery)}`);
      }
    },
    waiting: () => {
      const { members, unanswered } = mail.status(run.id);
      const own = members.find((member) => member.address === address);
      return {
        asks: unanswered.filter(({ recipient }) => recipient === address).length,
        unread: own?.unread ?? 0,
        oldestMs: clock.now() - (own?.oldestUnread ?? clock.now()),
      };
    },
    asks: () => owed().map(({ message }) => message.seq),
    showAsks: () => {
      const open = owed();
      if (open.length === 0) print('no question waits for your answer');
      for (const delivery of open) print(lineOf(delivery));
    },
    send: (typed) => {
      try {
        const finished = finishedRun(opened);
        if (finished !== undefined) throw finished;
        const answer = mail.send(party, draftFor(typed));
        // The next look shows it.
        if (answer.sent) return;
        const { reason, field, rule } = answer.refusal;
        print(`refused   ${reason} ${plainLine(field, 100)}: ${plainLine(rule, 400)}`);
      } catch (error) {
        if (!isSquadError(error)) throw error;
        const next = error.next === undefined ? '' : `. Next: ${error.next}`;
        print(`refused   ${plainLine(`${errorText(error)}${next}`, 400)}`);
      }
    },
  };
}

/** What a member has to read and answer. */
export interface Waiting {
  /** Questions without an answer. */
  readonly asks: number;
  readonly unread: number;
  /** Age of the oldest unread message. */
  readonly oldestMs: number;
}

/** The title of a pane in the terminal. */
export function paneTitle(name: string, { asks, unread, oldestMs }: Waiting): string {
  return [
    plainLine(name, 120),
    ...(asks === 0 ? [] : [`${asks} to answer`]),
    ...(unread === 0 ? [] : [`${unread} unread, oldest ${ageOf(oldestMs)}`]),
  ].join(' · ');
}
