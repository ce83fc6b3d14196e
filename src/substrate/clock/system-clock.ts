import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../ports/clock.ts';

/** The machine's time. A sleep keeps the process alive until its signal aborts it. */
export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep: async (ms, signal) => {
      try {
        await wait(ms, undefined, signal === undefined ? undefined : { signal });
      } catch {
        // Only an abort rejects, and then the sleep ends early, as the caller asked.
      }
    },
  };
}
