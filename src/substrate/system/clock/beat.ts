import type { Clock } from '../../ports/clock.ts';

/** ms until the next multiple of `every`. Loops that all wait for it wake the process once, and not each for itself. */
export function untilBeat(clock: Pick<Clock, 'monotonic'>, every: number): number {
  return Math.ceil(every - (clock.monotonic() % every));
}
