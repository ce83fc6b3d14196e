import type { WorkClock } from '../graph/ports.ts';
import type { Limits } from '../model/limits.ts';
import { engineTime } from '../model/spending.ts';
import type { Clock } from '../substrate/ports/clock.ts';
import type { Lease, LeaseSegment, Ledger } from '../substrate/ports/ledger.ts';
import type { Processes } from '../substrate/ports/processes.ts';
import type { PlaceWatch } from './lost-place.ts';
import type { SegmentControl } from './run-control.ts';
import { seenNow } from './take-lease.ts';
import { spanText } from '../text/duration.ts';

const BEAT_MS = 2_000;
const MINUTE = 60_000;
/** Extra time for turns that run when the time is up: a tenth of the limit, at most a minute. */
const GRACE_SHARE = 0.1;
const MOST_GRACE_MS = MINUTE;

/**
 * Every two seconds, records that the engine runs, enforces the run's time limit, wakes it at its deadline, and checks for
 * a clock set back, for time in which the engine stood still, and for stores that are gone. Returns its stop.
 */
export function watchRun(
  ports: {
    ledger: Ledger;
    lease: Lease;
    clock: Clock;
    workClock: SegmentClock;
    limits: Limits;
    /** Epoch ms. */
    deadline: number | undefined;
    places?: Pick<PlaceWatch, 'findLoss'> | undefined;
    /** Absent: what the next engine counts begins with its own start. */
    processes?: Pick<Processes, 'sinceBoot'>;
    onWarning?: ((text: string) => void) | undefined;
  },
  control: SegmentControl,
): () => void {
  const { ledger, lease, clock, workClock, limits, deadline, places, processes, onWarning } = ports;
  const most = limits.minutes * MINUTE;
  const grace = Math.min(MOST_GRACE_MS, most * GRACE_SHARE);
  const setBack = watchClock(clock);
  let absent = clock.absentMs?.() ?? 0;
  let woken = false;
  let cut = false;
  // A run that is resumed after its deadline has decided on it already.
  let isDue = deadline !== undefined && clock.now() < deadline;
  const beat = (): void => {
    try {
      const loss = places?.findLoss();
      if (loss !== undefined) {
        control.fail(loss);
        return;
      }
      ledger.renewLease(lease, workClock.segmentMs(), processes && seenNow(processes));
      const back = setBack();
      if (back > 0) control.clockSetBack(back);
      const away = (clock.absentMs?.() ?? 0) - absent;
      absent += away;
      if (away > 0)
        onWarning?.(`squad stood still for ${spanText(away)}; no limit of a turn or the run counts that time`);
      if (isDue && deadline !== undefined && clock.now() >= deadline) {
        isDue = false;
        control.wake('the deadline has passed');
      }
      const left = most - workClock.totalMs();
      if (left <= 0 && !woken) {
        woken = true;
        control.wake(`the limit of ${limits.minutes} minutes is reached`);
      }
      if (left <= -grace && !cut) {
        cut = true;
        control.cancelTurns(`the run's limit of ${limits.minutes} minutes is reached`);
      }
    } catch (error) {
      control.fail(error);
    }
  };
  const stopped = new AbortController();
  void beats(clock, stopped.signal, beat);
  return () => stopped.abort();
}

async function beats(clock: Clock, stopped: AbortSignal, beat: () => void): Promise<void> {
  for (;;) {
    await clock.sleep(BEAT_MS, stopped);
    if (stopped.aborted) return;
    beat();
  }
}

/** Time synchronisation makes smaller steps all the time. */
const LEAST_MS = 1_000;

/** Each call returns by how many ms the wall clock was set back since the last reported step; 0 if it was not. */
export function watchClock(clock: Pick<Clock, 'now' | 'monotonic'>): () => number {
  const offset = (): number => clock.now() - clock.monotonic();
  let before = offset();
  return () => {
    const now = offset();
    const back = Math.round(before - now);
    // Small steps back add up. A step forward needs no correction: waits end earlier.
    if (back > 0 && back < LEAST_MS) return 0;
    before = now;
    return Math.max(0, back);
  };
}

/** By how many ms the clock was set back while no engine ran: the run's newest event is then later than now. 0: it was not. */
export function setBackSince(newest: number, now: number): number {
  return newest - now < LEAST_MS ? 0 : newest - now;
}

export interface SegmentClock extends WorkClock {
  /** ms of this segment. */
  segmentMs(): number;
}

/** The clock of the newest segment, which may have counted something before it began (`takeLease`). */
export function workClockOf(clock: Pick<Clock, 'monotonic'>, segments: readonly LeaseSegment[]): SegmentClock {
  return createWorkClock(clock, engineTime(segments.slice(0, -1)), segments.at(-1)?.workedMs);
}

/**
 * Uses the monotonic clock, so neither sleep of the machine nor a changed clock counts. `before`: ms of earlier segments. `own`: ms that
 * count for this one from its start.
 */
export function createWorkClock(clock: Pick<Clock, 'monotonic'>, before: number, own = 0): SegmentClock {
  let worked = own;
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
