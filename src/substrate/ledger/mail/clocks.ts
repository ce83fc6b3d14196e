import { createHash } from 'node:crypto';
import { ACK_TIMEOUT_MS, MOST_RETRIES, ONLINE_MS, RETRY_BACKOFF_MS, RETRY_JITTER } from '../../../model/mail/times.ts';
import { answerTimeOf } from '../../../model/mail/effects.ts';
import type { MailAction } from '../../../model/mail/kind.ts';

// The three clocks of a delivery, as pure rules: how long its recipient could receive, when the next try is due, and when its
// answer is due. `tick.ts` finds what is due and acts on it.

/**
 * The time during which a recipient could receive; retries go by it. Runs while a reader sends beats, and stops a minute after the last
 * one. An agent without a reader gets its mail in its next turn: until then, nothing is late.
 */
export interface ReceiveClock {
  /** The engine's last report, for people: 1 if it could start a turn of this recipient. */
  readonly able: 0 | 1;
  /** Epoch ms until which that report counts. */
  readonly ableUntil: number;
  /** Epoch ms until which the last beat of a reader counts. */
  readonly beatUntil: number;
  /** ms, up to `countedAt`. */
  readonly receivedMs: number;
  readonly countedAt: number;
}

/** `renewed`: the engine that reported who is able is still running. */
export type ReceiveEvent = 'beat' | 'able' | 'unable' | 'renewed';

export function newReceiveClock(now: number): ReceiveClock {
  return { able: 0, ableUntil: 0, beatUntil: 0, receivedMs: 0, countedAt: now };
}

export function isOnline(clock: ReceiveClock, now: number): boolean {
  return now < Math.max(clock.ableUntil, clock.beatUntil);
}

/** Whether a reader is there, so that the clock runs. */
export function isRead(clock: ReceiveClock, now: number): boolean {
  return now < clock.beatUntil;
}

/** ms that the recipient could receive until `now`. A wall clock that is set back adds and removes nothing. */
export function receivedAt(clock: ReceiveClock, now: number): number {
  const end = Math.min(now, clock.beatUntil);
  return clock.receivedMs + Math.max(0, end - clock.countedAt);
}

export function stepReceiveClock(clock: ReceiveClock, event: ReceiveEvent, now: number): ReceiveClock {
  const counted = { ...clock, receivedMs: receivedAt(clock, now), countedAt: now };
  switch (event) {
    case 'beat':
      return { ...counted, beatUntil: now + ONLINE_MS };
    case 'able':
      return { ...counted, able: 1, ableUntil: now + ONLINE_MS };
    case 'renewed':
      return clock.able === 1 ? { ...counted, ableUntil: now + ONLINE_MS } : clock;
    case 'unable':
      return { ...counted, able: 0, ableUntil: now };
  }
}

/** `ack`: the message is in the inbox and must be read. `backoff`: it was not read and waits for its next try. */
export type Phase = 'ack' | 'backoff';

export interface Try {
  /** The message's id, which seeds the jitter. */
  readonly id: string;
  readonly phase: Phase;
  /** Retries so far, without the first delivery. */
  readonly retries: number;
}

/** `due`: ms by the recipient's own clock, from the moment at which the last step was due. */
export type RetryStep =
  | { readonly step: 'wait'; readonly due: number }
  | { readonly step: 'retry'; readonly retries: number; readonly due: number }
  | { readonly step: 'give-up' };

/** The next step once a try's time is over and the message is not accepted. */
export function nextTry({ id, phase, retries }: Try): RetryStep {
  if (phase === 'backoff') return { step: 'retry', retries: retries + 1, due: ACK_TIMEOUT_MS };
  if (retries >= MOST_RETRIES) return { step: 'give-up' };
  return { step: 'wait', due: backoffMs(id, retries) };
}

/** Always the same for the same message and try. */
export function backoffMs(id: string, retries: number): number {
  const base = RETRY_BACKOFF_MS[Math.min(retries, RETRY_BACKOFF_MS.length - 1)] ?? 0;
  const draw = createHash('sha256').update(`${id} ${retries}`).digest().readUInt32BE(0) / 2 ** 32;
  return Math.round(base * (1 + RETRY_JITTER * (2 * draw - 1)));
}

export interface Ask {
  readonly action: MailAction | null;
  /** Epoch ms. */
  readonly ts: number;
  readonly deadline: number | null;
  /** From the body of a review. */
  readonly reviewDeadline: number | null;
  /** A person may never accept the ask, so the time of a question to a person starts when it is sent. */
  readonly toPerson: boolean;
}

/** When an ask must be answered (epoch ms), as known when it is sent; null: its clock starts when it is read. */
export function dueOnSend({ action, ts, deadline, reviewDeadline, toPerson }: Ask): number | null {
  const time = answerTimeOf(action);
  if (time === undefined) return null;
  const startsNow = time.from === 'sent' || (toPerson && time.silence === 'open');
  const byDefault = startsNow ? ts + time.ms : null;
  if (time.field === undefined) return byDefault;
  return (time.field === 'deadline' ? deadline : reviewDeadline) ?? byDefault;
}

/** When an ask must be answered, once it is read; null: as before, or never. */
export function dueOnAccept(action: MailAction | null, acceptedAt: number): number | null {
  const time = answerTimeOf(action);
  return time?.from === 'read' ? acceptedAt + time.ms : null;
}

/** After the time of an answer: a question stays open and is reported again; silence closes every other ask. */
export function atAnswerDue(action: MailAction | null, now: number): { close: boolean; next: number | null } {
  const time = answerTimeOf(action);
  return time?.silence === 'open' ? { close: false, next: now + time.ms } : { close: true, next: null };
}
