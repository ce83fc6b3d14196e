import { ONLINE_MS } from '../../../model/mail/times.ts';

/**
 * How long a recipient could receive in all: the clock by which its letters are overdue. It goes on while the engine says
 * that the recipient is able to, or a reader of its beats, and ends by itself a minute after the last sign of life.
 */
export interface ReceiveClock {
  /** As the engine said last. */
  readonly able: boolean;
  /** Epoch ms until which that counts. */
  readonly ableUntil: number;
  /** The same of its readers. */
  readonly beatUntil: number;
  /** ms, up to `countedAt`. */
  readonly receivedMs: number;
  readonly countedAt: number;
}

/** What can happen to it. `renewed`: the engine that said who is able still lives. */
export type ReceiveEvent = 'beat' | 'able' | 'unable' | 'renewed';

export function newReceiveClock(now: number): ReceiveClock {
  return { able: false, ableUntil: 0, beatUntil: 0, receivedMs: 0, countedAt: now };
}

/** Whether somebody is there to receive at `now`. */
export function isOnline(clock: ReceiveClock, now: number): boolean {
  return now < Math.max(clock.ableUntil, clock.beatUntil);
}

/** ms that the recipient could receive until `now`. A wall clock that is put back adds nothing, and takes nothing. */
export function receivedAt(clock: ReceiveClock, now: number): number {
  const end = Math.min(now, Math.max(clock.ableUntil, clock.beatUntil));
  return clock.receivedMs + Math.max(0, end - clock.countedAt);
}

export function stepReceiveClock(clock: ReceiveClock, event: ReceiveEvent, now: number): ReceiveClock {
  const counted = { ...clock, receivedMs: receivedAt(clock, now), countedAt: now };
  switch (event) {
    case 'beat':
      return { ...counted, beatUntil: now + ONLINE_MS };
    case 'able':
      return { ...counted, able: true, ableUntil: now + ONLINE_MS };
    case 'renewed':
      return clock.able ? { ...counted, ableUntil: now + ONLINE_MS } : clock;
    case 'unable':
      return { ...counted, able: false, ableUntil: now };
  }
}
