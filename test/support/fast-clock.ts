import type { Clock } from '../../src/substrate/ports/clock.ts';

/** A time that runs `speed` times as fast since `from` (epoch ms), the same for each process that knows both. */
export interface FastTime {
  readonly from: number;
  readonly speed: number;
}

export function fastNow({ from, speed }: FastTime): number {
  return from + (Date.now() - from) * speed;
}

/** A clock of that time. */
export function fastClock(clock: Clock, time: FastTime): Clock {
  const { speed } = time;
  return {
    now: () => Math.floor(fastNow(time)),
    monotonic: () => clock.monotonic() * speed,
    sleep: async (ms, signal) => clock.sleep(ms / speed, signal),
  };
}
