import type { WorkClock } from '../graph/ports.ts';
import type { Clock } from '../substrate/ports/clock.ts';

export interface SegmentClock extends WorkClock {
  /** ms of this segment. */
  segmentMs(): number;
}

/** Uses the monotonic clock, so neither sleep of the machine nor a changed clock counts. `before`: ms of earlier segments. */
export function createWorkClock(clock: Pick<Clock, 'monotonic'>, before: number): SegmentClock {
  let worked = 0;
  let since: number | null = clock.monotonic();
  const segmentMs = (): number => Math.round(worked + (since === null ? 0 : clock.monotonic() - since));
  return {
    segmentMs,
    totalMs: () => before + segmentMs(),
    suspend: () => {
      worked = segmentMs();
      since = null;
    },
    resume: () => {
      since ??= clock.monotonic();
    },
  };
}
