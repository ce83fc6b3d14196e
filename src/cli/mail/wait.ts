import { answerTimeOf } from '../../model/mail/effects.ts';
import type { MailMessage } from '../../model/mail/envelope.ts';
import type { Delivery } from '../../substrate/ports/mailbox.ts';
import type { OpenedMail } from './open-mail.ts';
import type { WaitFor } from './options.ts';

const LOOK_MS = 250;

export type WaitEnd = 'reached' | 'failed' | 'timed-out' | 'interrupted';

/**
 * Waits until every recipient has received, read or answered a message, or one of them never will. Meanwhile it applies retries
 * and deadlines, even without an engine. `timeoutMs` undefined: for as long as the message lives.
 */
export async function waitFor(
  { mail, clock }: Pick<OpenedMail, 'mail' | 'clock'>,
  message: MailMessage,
  runId: string,
  { wait, timeoutMs }: { readonly wait: WaitFor; readonly timeoutMs: number | undefined },
  aborted: AbortSignal,
): Promise<WaitEnd> {
  const until = timeoutMs === undefined ? Infinity : clock.monotonic() + timeoutMs;
  for (;;) {
    const deliveries = mail.deliveries(message.id);
    const failed = failedReplies(mail.replies(message.id));
    const state = stateOf(wait, deliveries, failed);
    if (state !== 'open') return state;
    if (aborted.aborted) return 'interrupted';
    if (clock.monotonic() >= until) return 'timed-out';
    mail.tick(runId);
    await clock.sleep(Math.min(LOOK_MS, until - clock.monotonic()), aborted);
  }
}

function failedReplies(replies: readonly MailMessage[]): ReadonlySet<string> {
  return new Set(replies.filter(({ type }) => type === 'fail').map(({ id }) => id));
}

/** Pure. `failed`: ids of the replies that are a `fail`. */
export function stateOf(
  wait: WaitFor,
  deliveries: readonly Delivery[],
  failed: ReadonlySet<string>,
): 'open' | 'reached' | 'failed' {
  const states = deliveries.map((delivery) => stateOfOne(wait, delivery, failed));
  if (states.includes('open')) return 'open';
  return states.includes('failed') ? 'failed' : 'reached';
}

function stateOfOne(
  wait: WaitFor,
  { state, answer, message }: Delivery,
  failed: ReadonlySet<string>,
): 'open' | 'reached' | 'failed' {
  if (wait === 'delivered') return 'reached';
  if (answer !== null && wait === 'accepted') return 'reached';
  if (answer === 'overdue') return answerTimeOf(message.action)?.silence === 'done' ? 'reached' : 'failed';
  if (answer !== null) return failed.has(answer) ? 'failed' : 'reached';
  if (state === 'dead' || state === 'void') return 'failed';
  return state === 'accepted' && wait === 'accepted' ? 'reached' : 'open';
}
