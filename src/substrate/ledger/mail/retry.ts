import { createHash } from 'node:crypto';
import { ACK_TIMEOUT_MS, MOST_RETRIES, RETRY_BACKOFF_MS, RETRY_JITTER } from '../../../model/mail/times.ts';

/** `ack`: it lies in the inbox and should be read. `backoff`: it was not, and waits for its next try. */
export type Phase = 'ack' | 'backoff';

export interface Try {
  /** Of the message: seeds the jitter. */
  readonly id: string;
  readonly phase: Phase;
  /** Made so far, besides the first delivery. */
  readonly retries: number;
}

/** `due`: ms from the moment at which the last one was due, by the recipient's own clock. */
export type RetryStep =
  | { readonly step: 'wait'; readonly due: number }
  | { readonly step: 'retry'; readonly retries: number; readonly due: number }
  | { readonly step: 'give-up' };

/** What follows when a try's time is over and nobody has accepted the message. */
export function nextTry({ id, phase, retries }: Try): RetryStep {
  if (phase === 'backoff') return { step: 'retry', retries: retries + 1, due: ACK_TIMEOUT_MS };
  if (retries >= MOST_RETRIES) return { step: 'give-up' };
  return { step: 'wait', due: backoffMs(id, retries) };
}

/** The same for the same message and try, whoever asks and how often. */
export function backoffMs(id: string, retries: number): number {
  const base = RETRY_BACKOFF_MS[Math.min(retries, RETRY_BACKOFF_MS.length - 1)] ?? 0;
  const draw = createHash('sha256').update(`${id} ${retries}`).digest().readUInt32BE(0) / 2 ** 32;
  return Math.round(base * (1 + RETRY_JITTER * (2 * draw - 1)));
}
