import { defined } from '../../text/defined.ts';
import type { Json } from '../../text/json.ts';
import { plainText } from '../../text/plain-text.ts';
import { isoTime } from '../../text/time.ts';
import type { Delivery, Mailbox } from '../../substrate/ports/mailbox.ts';

/** Characters of one message in a list. */
const SHORT = 2_000;
/** Characters of one page of a message that is read alone. */
const PAGE = 16_000;

/** A message in a list, or one page of it from the character `offset` on. `cut`: the tool `inbox` with its id reads the rest. */
export function shownMessage(
  mail: Mailbox,
  { message, answerDue }: Pick<Delivery, 'message' | 'answerDue'>,
  offset?: number,
): Record<string, Json> {
  const { id, from, to, type, action, task_id, corr, deadline, ts } = message;
  const text = plainText(mail.bodyOf(message));
  const start = offset ?? 0;
  const end = start + (offset === undefined ? SHORT : PAGE);
  return {
    id,
    from,
    to: [...to],
    type,
    ...defined({ action, task_id, corr }),
    sent: isoTime(ts),
    ...(answerDue === null ? {} : { answer_until: isoTime(answerDue) }),
    ...(deadline === undefined ? {} : { deadline: isoTime(deadline) }),
    body: text.slice(start, end).toWellFormed(),
    ...(text.length > end ? { cut: true, next_offset: end } : {}),
  };
}
