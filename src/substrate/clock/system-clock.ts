import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../ports/clock.ts';
import { createPresence, PRESENT_MS, type Presence } from './presence.ts';

/** The machine's time. A sleep keeps the process alive until its signal aborts it. */
export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => ownPresence().time(),
    absentMs: () => ownPresence().absentMs(),
    sleep: async (ms, signal) => {
      try {
        await wait(ms, undefined, signal === undefined ? undefined : { signal });
      } catch {
        // Only an abort rejects, and then the sleep ends early, as the caller asked.
      }
    },
  };
}

let presence: Presence | undefined;

/** One for the process. */
function ownPresence(): Presence {
  if (presence !== undefined) return presence;
  const made = createPresence(() => performance.now());
  setInterval(() => made.time(), PRESENT_MS).unref();
  presence = made;
  return made;
}
