import { QUESTION_MS } from '../../model/mail/times.ts';
import type { Delivery } from '../../substrate/ports/mailbox.ts';

/**
 * Pure: the asks that somebody read and has not answered for half an hour, each again after every further half an hour.
 * `told`: how often the caller has told of each.
 */
export function dueReminders(
  unanswered: readonly Delivery[],
  address: string,
  now: number,
  told: ReadonlyMap<string, number>,
): readonly { readonly delivery: Delivery; readonly times: number }[] {
  return unanswered.flatMap((delivery) => {
    const { recipient, acceptedAt, message } = delivery;
    if (recipient !== address || acceptedAt === null) return [];
    const times = Math.floor((now - acceptedAt) / QUESTION_MS);
    return (told.get(message.id) ?? 0) < times ? [{ delivery, times }] : [];
  });
}
