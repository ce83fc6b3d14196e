import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../ports/clock.ts';

/** The machine's own time. A sleep keeps the process alive, unless its signal aborts it. */
export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep: async (ms, signal) => {
      try {
        await wait(ms, undefined, signal === undefined ? undefined : { signal });
      } catch {
        // The only way to reject is the abort that the caller asked for: waking early is the answer.
      }
    },
  };
}
