import { ACK_TIMEOUT_MS } from '../../../model/mail/times.ts';
import type { Store } from '../store.ts';
import { dueOnSend } from './answers.ts';
import { findPolicy, memberAt } from './policy.ts';
import { receivedBy } from './presence.ts';
import type { StoredMail } from './rows.ts';

/** The clocks of one delivery, from the moment at which its recipient can see it. */
export interface Journey {
  /** Of the recipient's own clock. */
  readonly due: number;
  /** Epoch ms. */
  readonly expiresAt: number;
  readonly answerDue: number | null;
}

/** `reviewDeadline`: of the body of a review. */
export function startJourney(
  store: Store,
  mail: StoredMail,
  recipient: string,
  reviewDeadline: number | null,
): Journey {
  const now = store.clock.now();
  const { action, ts, deadline } = mail;
  const policy = findPolicy(store, mail.run_id);
  const toPerson = policy !== undefined && memberAt(policy, recipient)?.agent === null;
  return {
    due: receivedBy(store, mail.run_id, recipient, now) + ACK_TIMEOUT_MS,
    expiresAt: Math.min(Math.max(now, ts) + mail.ttl_ms, deadline ?? Number.MAX_SAFE_INTEGER),
    answerDue: mail.type === 'ask' ? dueOnSend({ action, ts, deadline, reviewDeadline, toPerson }) : null,
  };
}
