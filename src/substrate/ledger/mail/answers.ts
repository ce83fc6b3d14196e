import { QUESTION_MS, REVIEW_MS, VERIFY_MS } from '../../../model/mail/times.ts';
import type { MailAction } from '../../../model/mail/kind.ts';

export interface Ask {
  readonly action: MailAction | null;
  /** Epoch ms. */
  readonly ts: number;
  readonly deadline: number | null;
  /** Of a review, from its body. */
  readonly reviewDeadline: number | null;
  /** The ask is to a person, who may never read it, so the time of a question begins when it is sent. */
  readonly toPerson: boolean;
}

/** Until when an ask has to be answered (epoch ms), as known when it is sent; null: that begins when it is read. */
export function dueOnSend(ask: Ask): number | null {
  if (ask.action === 'review') return ask.reviewDeadline ?? ask.ts + REVIEW_MS;
  if (ask.action === 'clarify' && ask.toPerson) return ask.ts + QUESTION_MS;
  return ask.action === 'assign' ? ask.deadline : null;
}

/** The same once it was read; null: as it was, or never. */
export function dueOnAccept(action: MailAction | null, acceptedAt: number): number | null {
  if (action === 'verify') return acceptedAt + VERIFY_MS;
  return action === 'clarify' ? acceptedAt + QUESTION_MS : null;
}

/** What comes of an ask whose time is over: a question stays open and is told of again, all else is closed by silence. */
export function atAnswerDue(action: MailAction | null, now: number): { close: boolean; next: number | null } {
  return action === 'clarify' ? { close: false, next: now + QUESTION_MS } : { close: true, next: null };
}
