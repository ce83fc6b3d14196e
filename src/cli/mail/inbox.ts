import type { Locale } from '../../model/locale.ts';
import { memberAt } from '../../model/mail/policy.ts';
import type { Delivery, MailParty } from '../../substrate/ports/mailbox.ts';
import type { CommandContext } from '../command-context.ts';
import { messageJson, messageLine, localeOf } from './mail-text.ts';
import { asksPerson, markedLine, waitingFor } from './waiting.ts';
import { mailWords, type MailWords } from './mail-words.ts';
import { withParty, type OpenedMail } from './open-mail.ts';
import type { InboxOptions } from './options.ts';

const BATCH = 50;
/** Long enough to print a batch. A reader that dies before that leaves it unread. */
const LEASE_MS = 30_000;
const MOST = 1000;

/** Prints what waits for a person's answer, then unread mail, each oldest first, and marks it as read if `takes` says so. */
export async function inbox(context: CommandContext, options: InboxOptions): Promise<void> {
  const { limit = MOST, json } = options;
  await withParty(context, options, async (opened, party) => {
    const locale = await localeOf(context.host, opened.root, options);
    const print = createPrinter(context, opened, { json, locale }, party);
    const words = mailWords(locale);
    const onTop = json === true ? [] : waitingFor(opened, party);
    for (const delivery of onTop) print(delivery);
    const seen = new Set(onTop.map(({ message }) => message.id));
    const rest = (delivery: Delivery): void => (seen.has(delivery.message.id) ? undefined : print(delivery));
    if (!takes(opened, party, options)) {
      const found = opened.mail.inbox(party, limit);
      for (const delivery of found) rest(delivery);
      if (found.length + onTop.length === 0 && json !== true) context.output.line(words.noMail);
      if (found.length > 0) noteUnread(context, opened, party, options, words);
      return;
    }
    opened.mail.beat(party);
    let count = 0;
    while (count < limit) {
      const taken = await readBatch(opened, party, Math.min(BATCH, limit - count), rest);
      count += taken;
      if (taken === 0) break;
    }
    if (count + onTop.length === 0 && json !== true) context.output.line(words.noMail);
  });
}

/**
 * Whether printed mail counts as read. An agent would never see mail that a person read in its place, so a person has to ask
 * for that.
 */
export function takes(
  { policy }: Pick<OpenedMail, 'policy'>,
  party: MailParty,
  { peek, take }: Pick<InboxOptions, 'peek' | 'take'>,
): boolean {
  if (peek === true) return false;
  return take === true || party.by === 'turn' || memberAt(policy, party.address)?.agent === null;
}

export function noteUnread(
  { output }: CommandContext,
  { policy }: Pick<OpenedMail, 'policy'>,
  { address }: MailParty,
  { peek, json }: InboxOptions,
  words: MailWords,
): void {
  if (peek === true || json === true || memberAt(policy, address)?.agent === null) return;
  output.problem(words.staysUnread(address));
}

/**
 * Prints one batch and marks it as read: new mail first, then mail that was given up. 0: there is no more, or the reader of the
 * output is gone.
 */
export async function readBatch(
  { mail }: Pick<OpenedMail, 'mail'>,
  party: MailParty,
  limit: number,
  print: (delivery: Delivery) => void,
): Promise<number> {
  const news = mail.claim(party, { limit, leaseMs: LEASE_MS });
  const batch =
    news.length > 0
      ? news
      : mail
          .inbox(party)
          .filter(({ state }) => state === 'dead')
          .slice(0, limit);
  for (const delivery of batch) print(delivery);
  if (batch.length === 0 || !(await isTaken(process.stdout))) return 0;
  mail.accept(
    party,
    batch.map(({ message }) => message.id),
  );
  return batch.length;
}

export function createPrinter(
  { output }: CommandContext,
  opened: OpenedMail,
  { json, locale }: { readonly json: boolean | undefined; readonly locale: Locale },
  party: MailParty,
): (delivery: Pick<Delivery, 'message'>) => void {
  const { mail } = opened;
  if (json === true) return ({ message }) => output.json(messageJson(mail, message));
  return ({ message }) => {
    const line = messageLine(mail, message, locale);
    output.line(asksPerson(opened, party, message) ? markedLine(line) : line);
  };
}

/**
 * Whether the reader of the output took everything that was printed. Mail counts as read only then: a closed pipe (`| head`)
 * or a closed terminal takes nothing.
 */
export async function isTaken(stdout: NodeJS.WriteStream): Promise<boolean> {
  if (stdout.destroyed || stdout.errored !== null) return false;
  return new Promise((resolve) => stdout.write('', (error) => resolve(error === null || error === undefined)));
}
