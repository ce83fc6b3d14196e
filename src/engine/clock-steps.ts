import type { Clock } from '../substrate/ports/clock.ts';

/** Programs that keep time make smaller steps all the time. */
const LEAST_MS = 1_000;

/** Each call says by how many ms the wall clock was set back since the last that was told; 0: it was not. */
export function watchClock(clock: Pick<Clock, 'now' | 'monotonic'>): () => number {
  const offset = (): number => clock.now() - clock.monotonic();
  let before = offset();
  return () => {
    const now = offset();
    const back = Math.round(before - now);
    // Small steps add up. One forward ends waits by itself.
    if (back > 0 && back < LEAST_MS) return 0;
    before = now;
    return Math.max(0, back);
  };
}

/** The same for a run that nobody drove meanwhile: its newest event is later than now. */
export function setBackSince(newest: number, now: number): number {
  return newest - now < LEAST_MS ? 0 : newest - now;
}
