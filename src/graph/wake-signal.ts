import type { Clock } from '../substrate/ports/clock.ts';
import type { WakeSignal } from './ports.ts';

export function createWakeSignal(clock: Clock): WakeSignal {
  let raised = false;
  let wake: AbortController | undefined;
  return {
    raise: () => {
      raised = true;
      wake?.abort();
    },
    glance: () => wake?.abort(),
    wait: async (ms) => {
      if (!raised) {
        wake = new AbortController();
        await clock.sleep(ms, wake.signal);
        wake = undefined;
      }
      const woken = raised;
      raised = false;
      return woken;
    },
  };
}
