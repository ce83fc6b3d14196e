import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../../ports/clock.ts';

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

/** How often a process notes that it runs. */
export const PRESENT_MS = 1_000;
/** Less is a machine that has much to do. */
const LATE_MS = 5_000;

/** A monotonic time that stands still while the process does: stopped by a signal, in a container that was paused, or starved. */
interface Presence {
  /** ms, never less than before. */
  time(): number;
  /** ms that were left out so far. */
  absentMs(): number;
}

/** `read`: monotonic ms. The caller asks for the time at least every `PRESENT_MS` while the process runs. */
export function createPresence(read: () => number): Presence {
  let seen = read();
  let absent = 0;
  return {
    time: () => {
      const now = read();
      const late = now - seen - PRESENT_MS;
      if (late > LATE_MS) absent += late;
      seen = now;
      return now - absent;
    },
    absentMs: () => absent,
  };
}
