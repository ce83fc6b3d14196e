import type { Limits } from '../model/settings.ts';
import type { Clock } from '../substrate/ports/clock.ts';
import type { Lease, Ledger } from '../substrate/ports/ledger.ts';
import type { SegmentControl } from './run-control.ts';
import type { SegmentClock } from './work-clock.ts';

const BEAT_MS = 2_000;
/** A turn that runs when the time is up may end by itself for so long. */
const GRACE_MS = 60_000;
const MINUTE = 60_000;

/** Says every two seconds that the engine lives, and keeps the run's time limit. Stops by the function it returns. */
export function watchRun(
  ports: { ledger: Ledger; lease: Lease; clock: Clock; workClock: SegmentClock; limits: Limits },
  control: SegmentControl,
): () => void {
  const { ledger, lease, clock, workClock, limits } = ports;
  let told = false;
  let cut = false;
  const beat = (): void => {
    try {
      ledger.renewLease(lease, workClock.segmentMs());
      const left = limits.minutes * MINUTE - workClock.totalMs();
      if (left <= 0 && !told) {
        told = true;
        control.wake(`the limit of ${limits.minutes} minutes is reached`);
      }
      if (left <= -GRACE_MS && !cut) {
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
