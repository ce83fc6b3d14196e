import { QUESTION_MS } from '../../model/mail/times.ts';
import type { MailStatus } from '../../substrate/ports/mailbox.ts';
import type { CommandContext } from '../command-context.ts';
import { renderTable } from '../render/table.ts';
import { ageOf, localTime } from '../../text/time.ts';
import { plainLine } from '../../text/plain-text.ts';
import { answerTo, messageLine, localeOf } from './mail-text.ts';
import { mailWords } from './mail-words.ts';
import { WAIT_MARK } from './waiting.ts';
import { lookAtMail, type OpenedMail } from './open-mail.ts';
import { routerNote } from '../../model/mail/router-note.ts';
import type { Locale } from '../../model/locale.ts';
import type { MailOptions } from './options.ts';

/** Prints members, tasks of mail, asks without an answer, and mail that was given up. */
export async function mailStatus(context: CommandContext, options: MailOptions): Promise<void> {
  await lookAtMail(context, options, async (opened) => {
    const { mail, run, root } = opened;
    const found = mail.status(run.id);
    if (options.json === true) {
      context.output.json({ event: 'status', runId: run.id, name: run.name, ...found });
      return;
    }
    const locale = await localeOf(context.host, root, options);
    for (const line of renderMailStatus(found, opened, locale)) context.output.line(line);
  });
}

function renderMailStatus(
  { session, members, tasks, unanswered, dead, counts }: MailStatus,
  { mail, run, clock }: OpenedMail,
  locale: Locale,
): string[] {
  const now = clock.now();
  const words = mailWords(locale);
  return [
    `${run.name}  ${words.counts(counts)}`,
    `  ${words.session(session.id, session.epoch)}`,
    ...section(
      words.unanswered,
      waitingFirst(unanswered, members).flatMap(({ message, recipient, acceptedAt }) => {
        const since = isPerson(members, recipient) ? message.ts : acceptedAt;
        const late = since !== null && since + QUESTION_MS <= now ? words.overdue : '';
        return [
          `${isPerson(members, recipient) ? WAIT_MARK : ''}${ageOf(now - message.ts)}${late}  → ${plainLine(recipient, 40)}  ${messageLine(mail, message, locale)}`,
          `  ${words.next}: squad mail ${answerTo(message)} --as ${plainLine(recipient, 40)} --corr '#${message.seq}'`,
        ];
      }),
    ),
    ...section(
      words.members,
      renderTable({
        rows: members.map(({ address, role, agent, online, unread, oldestUnread }) => [
          plainLine(address, 40),
          agent === null ? words.person : plainLine(role, 40),
          online ? words.online : words.offline,
          words.unread(unread, oldestUnread === null ? null : ageOf(now - oldestUnread)),
          ...(agent === null || agent === address ? [] : [plainLine(agent, 40)]),
        ]),
      }),
    ),
    ...section(
      words.tasks,
      tasks.map(({ id, status, owner, deadline }) => {
        const until = deadline === null ? '' : `  ${words.until(localTime(deadline, now))}`;
        return `${column(words.status[status] ?? status)}  ${plainLine(id, 80)}${owner === null ? '' : `  ${words.owner(plainLine(owner, 40))}`}${until}`;
      }),
    ),
    ...section(
      words.givenUp,
      dead.flatMap(({ message, recipient, retries, lastError }) => [
        `→ ${words.afterRetries(plainLine(recipient, 40), retries, plainLine(lastError === null ? words.notRead : routerNote(lastError, locale), 120))}  ${messageLine(mail, message, locale)}`,
        `  ${words.next}: squad mail inbox --as ${plainLine(recipient, 40)} --take   ${words.readLate}`,
      ]),
    ),
  ];
}

/** Those for a person first: no engine answers them. */
function waitingFirst(unanswered: MailStatus['unanswered'], members: MailStatus['members']): MailStatus['unanswered'] {
  return unanswered.toSorted(
    (one, other) => Number(isPerson(members, other.recipient)) - Number(isPerson(members, one.recipient)),
  );
}

function isPerson(members: MailStatus['members'], address: string): boolean {
  return members.some((member) => member.address === address && member.agent === null);
}

const COLUMNS = 14;

/** A Chinese character takes two columns. */
function column(text: string): string {
  return text.padEnd(COLUMNS - (text.match(/[一-鿿]/g)?.length ?? 0));
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}
