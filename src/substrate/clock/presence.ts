/** How often a process notes that it runs. */
export const PRESENT_MS = 1_000;
/** Less is a machine that has much to do. */
const LATE_MS = 5_000;

/** A monotonic time that stands still while the process does: stopped by a signal, in a container that was paused, or starved. */
export interface Presence {
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
