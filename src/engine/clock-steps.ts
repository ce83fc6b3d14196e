import type { Clock } from '../substrate/ports/clock.ts';

/** Time synchronisation makes smaller steps all the time. */
const LEAST_MS = 1_000;

/** Each call returns by how many ms the wall clock was set back since the last reported step; 0 if it was not. */
export function watchClock(clock: Pick<Clock, 'now' | 'monotonic'>): () => number {
  const offset = (): number => clock.now() - clock.monotonic();
  let before = offset();
  return () => {
    const now = offset();
    const back = Math.round(before - now);
    // Small steps back add up. A step forward needs no correction: waits end earlier.
    if (back > 0 && back < LEAST_MS) return 0;
    before = now;
    return Math.max(0, back);
  };
}

/** The same for a run that had no engine meanwhile: its newest event is later than now. */
export function setBackSince(newest: number, now: number): number {
  return newest - now < LEAST_MS ? 0 : newest - now;
}
