import { z } from 'zod';
import { QUESTION_MS } from '../model/mail/times.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import type { MailStatus } from '../substrate/ports/mailbox.ts';

const count = z.int().nonnegative();

/** The mail in `squad status` that needs attention. Times are epoch ms. */
export const mailReadingSchema = z.strictObject({
  unread: count,
  /** When the oldest unread message was sent. */
  oldestUnread: z.int().nullable(),
  /** Questions without an answer; `overdue`: read half an hour ago, or past their deadline. */
  unanswered: count,
  overdue: count,
  /** Messages that could not be delivered and are still unread. */
  dead: count,
  members: z.array(
    z.strictObject({
      address: z.string(),
      online: z.boolean(),
      unread: count,
      oldestUnread: z.int().nullable(),
    }),
  ),
});
export type MailReading = z.infer<typeof mailReadingSchema>;

/** undefined: the run has no mailbox. */
export function mailOf({ mail }: Pick<Ledger, 'mail'>, runId: string): MailStatus | undefined {
  return mail.policy(runId) === undefined ? undefined : mail.status(runId);
}

export function mailReadingOf({ members, unanswered, counts }: MailStatus, now: number): MailReading {
  const oldest = members.flatMap(({ oldestUnread }) => (oldestUnread === null ? [] : [oldestUnread]));
  const overdue = unanswered.filter(
    ({ acceptedAt, answerDue }) =>
      (answerDue !== null && answerDue <= now) || (acceptedAt !== null && acceptedAt + QUESTION_MS <= now),
  );
  return {
    unread: counts.unread,
    oldestUnread: oldest.length === 0 ? null : Math.min(...oldest),
    unanswered: unanswered.length,
    overdue: overdue.length,
    dead: counts.dead,
    members: members.map(({ address, online, unread, oldestUnread }) => ({ address, online, unread, oldestUnread })),
  };
}
