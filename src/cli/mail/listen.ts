import { usageError } from '../../model/errors.ts';
import { BEAT_MS, QUESTION_MS } from '../../model/mail/times.ts';
import type { Delivery, MailParty } from '../../substrate/ports/mailbox.ts';
import type { CommandContext } from '../command-context.ts';
import { ageOf } from '../../text/time.ts';
import { createPrinter, isTaken, readBatch, takes, noteUnread } from './inbox.ts';
import { mailWords, type MailWords } from './mail-words.ts';
import { answerTo, localeOf } from './mail-text.ts';
import { asksPerson, ring } from './waiting.ts';
import { withParty, type OpenedMail } from './open-mail.ts';
import type { InboxOptions } from './options.ts';
import { listenForStop } from './stop-signal.ts';

const LOOK_MS = 250;
const BATCH = 50;
/** Messages of an inbox that is only looked at. */
const MOST_SHOWN = 1000;

/**
 * Prints mail as it arrives, until it is interrupted, and marks it as read if `takes` says so. It also applies retries and
 * deadlines, so that they need no engine. A reader counts as online.
 */
export async function listen(context: CommandContext, options: InboxOptions): Promise<void> {
  refuseDeclined(options);
  await withParty(context, options, async (opened, party) => {
    const stop = listenForStop();
    try {
      const locale = await localeOf(context.host, opened.root, options);
      const printed = createPrinter(context, opened, { json: options.json, locale }, party);
      const print = ringing(printed, opened, party, options);
      const words = mailWords(locale);
      const isReader = takes(opened, party, options);
      const windowName = context.host.environment['TEAM_WINDOW_NAME'];
      if (isReader) opened.mail.register(party, windowName === undefined ? {} : { windowName });
      if (!isReader) noteUnread(context, opened, party, options, words);
      await listenUntil(opened, party, stop.aborted, {
        beats: isReader,
        take: isReader
          ? async () => {
              while ((await readBatch(opened, party, BATCH, print)) > 0);
            }
          : peeking(opened, party, print),
        remind: (delivery) => printReminder(context, opened, delivery, options, { print, words }),
      });
      context.exit(stop.exitCode());
    } finally {
      stop.stop();
    }
  });
}

interface Listener {
  /** A person who only looks at a member's mail does not make the member online. */
  readonly beats: boolean;
  /** Takes all new mail. */
  take(): Promise<void> | void;
  /** Called for an ask that was not answered in time. */
  remind(delivery: Delivery): void;
}

/** Ends when `aborted`, or when the reader of the output is gone. */
async function listenUntil(
  { mail, ledger, run, clock }: OpenedMail,
  party: MailParty,
  aborted: AbortSignal,
  listener: Listener,
): Promise<void> {
  const reminded = new Map<string, number>();
  let version: number | undefined;
  let lookAgainAt = -Infinity;
  while (!aborted.aborted) {
    // The connection's own writes do not change the version that it sees.
    const hasTicked = mail.tick(run.id) > 0;
    const changed = ledger.dataVersion();
    const isTime = clock.monotonic() >= lookAgainAt;
    // Also from time to time, because a lease that ends changes nothing on disk.
    if (hasTicked || changed !== version || isTime) await listener.take();
    version = changed;
    if (isTime) {
      lookAgainAt = clock.monotonic() + BEAT_MS;
      if (listener.beats) mail.beat(party);
      const { unanswered } = mail.status(run.id);
      for (const { delivery, times } of dueReminders(unanswered, party.address, clock.now(), reminded)) {
        reminded.set(delivery.message.id, times);
        listener.remind(delivery);
      }
    }
    if (!(await isTaken(process.stdout))) return;
    await clock.sleep(LOOK_MS, aborted);
  }
}

/** Rings at what asks a person. */
function ringing(
  print: (delivery: Pick<Delivery, 'message'>) => void,
  opened: OpenedMail,
  party: MailParty,
  { json }: InboxOptions,
): (delivery: Pick<Delivery, 'message'>) => void {
  return (delivery) => {
    if (json !== true && asksPerson(opened, party, delivery.message)) ring();
    print(delivery);
  };
}

/** Each message once, for as long as it is in the inbox. */
function peeking({ mail }: OpenedMail, party: MailParty, print: (delivery: Delivery) => void): () => void {
  let shown: ReadonlySet<string> = new Set();
  return () => {
    const found = mail.inbox(party, MOST_SHOWN);
    for (const delivery of found) if (!shown.has(delivery.message.id)) print(delivery);
    shown = new Set(found.map(({ message }) => message.id));
  };
}

function printReminder(
  { output }: CommandContext,
  { clock }: OpenedMail,
  delivery: Delivery,
  { json }: InboxOptions,
  { print, words }: { print: (delivery: Delivery) => void; words: MailWords },
): void {
  const { message, acceptedAt } = delivery;
  if (json === true) return output.json({ event: 'reminder', id: message.id, acceptedAt });
  const since = ageOf(clock.now() - (acceptedAt ?? message.ts));
  output.line(
    `${words.notAnsweredFor(since)}. ${words.next}: squad mail ${answerTo(message)} --corr '#${message.seq}'`,
  );
  print(delivery);
}

/**
 * Pure: the asks that were read and not answered for half an hour, each again after every further half hour. `reminded`: how
 * often the caller has reminded of each.
 */
export function dueReminders(
  unanswered: readonly Delivery[],
  address: string,
  now: number,
  reminded: ReadonlyMap<string, number>,
): readonly { readonly delivery: Delivery; readonly times: number }[] {
  return unanswered.flatMap((delivery) => {
    const { recipient, acceptedAt, message } = delivery;
    if (recipient !== address || acceptedAt === null) return [];
    const times = Math.floor((now - acceptedAt) / QUESTION_MS);
    return (reminded.get(message.id) ?? 0) < times ? [{ delivery, times }] : [];
  });
}

/** Throws `usage` for flags of the protocol's specification that squad does not have. */
function refuseDeclined({ autoInput, autoReply, promptPath }: InboxOptions): void {
  if (autoInput === true) {
    throw usageError(
      '--auto-input is declined: squad never types into another program',
      'See mail where it arrives: `squad mail listen`, or a window of `squad team`.',
    );
  }
  if (autoReply !== true && promptPath === undefined) return;
  throw usageError(
    '--auto-reply and --prompt-path are declined: a model that answers outside its session, budget and folder would be outside every limit',
    'Resume the run (`squad resume`): its engine gives agents their mail, and wakes finished ones.',
  );
}
