import type { Clock } from '../substrate/ports/clock.ts';
import type { Bell } from './ports.ts';

export function createBell(clock: Clock): Bell {
  let rung = false;
  let wake: AbortController | undefined;
  return {
    ring: () => {
      rung = true;
      wake?.abort();
    },
    wait: async (ms) => {
      if (!rung) {
        wake = new AbortController();
        await clock.sleep(ms, wake.signal);
        wake = undefined;
      }
      const rang = rung;
      rung = false;
      return rang;
    },
  };
}
