import { QUESTION_MS } from '../../model/mail/times.ts';
import type { MailStatus } from '../../substrate/ports/mailbox.ts';
import type { CommandContext } from '../command-context.ts';
import { ageOf, localTime } from '../../text/time.ts';
import { plainLine } from '../../text/plain-text.ts';
import { answerTo, messageLine, localeOf } from './mail-text.ts';
import { WAIT_MARK } from './waiting.ts';
import { lookAtMail, type OpenedMail } from './open-mail.ts';
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
  return [
    `${run.name}  ${counts.messages} messages, ${counts.unread} unread, ${counts.dead} given up, ${counts.refused} refused`,
    `  session ${session.id}  epoch ${session.epoch}`,
    ...section(
      'without an answer',
      waitingFirst(unanswered, members).flatMap(({ message, recipient, acceptedAt }) => {
        const since = isPerson(members, recipient) ? message.ts : acceptedAt;
        const late = since !== null && since + QUESTION_MS <= now ? ', overdue' : '';
        return [
          `${isPerson(members, recipient) ? WAIT_MARK : ''}${ageOf(now - message.ts)}${late}  → ${plainLine(recipient, 40)}  ${messageLine(mail, message, locale)}`,
          `  Next: squad mail ${answerTo(message)} --as ${plainLine(recipient, 40)} --corr '#${message.seq}'`,
        ];
      }),
    ),
    ...section(
      'members',
      members.map(({ address, role, agent, online, unread, oldestUnread }) => {
        const oldest = oldestUnread === null ? '' : `, the oldest for ${ageOf(now - oldestUnread)}`;
        const who = agent === null ? 'a person' : `${plainLine(role, 40)} ${plainLine(agent, 40)}`;
        return `${plainLine(address, 40).padEnd(8)}  ${online ? 'online ' : 'offline'}  ${unread} unread${oldest}  (${who})`;
      }),
    ),
    ...section(
      'tasks',
      tasks.map(({ id, status, owner, deadline }) => {
        const until = deadline === null ? '' : `  until ${localTime(deadline, now)}`;
        return `${status.padEnd(14)}  ${plainLine(id, 80)}${owner === null ? '' : `  of ${plainLine(owner, 40)}`}${until}`;
      }),
    ),
    ...section(
      'given up',
      dead.flatMap(({ message, recipient, retries, lastError }) => [
        `→ ${plainLine(recipient, 40)} after ${retries} retries: ${plainLine(lastError ?? 'not read in time', 120)}  ${messageLine(mail, message, locale)}`,
        `  Next: squad mail inbox --as ${plainLine(recipient, 40)} --take   (reads it, late)`,
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

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}
