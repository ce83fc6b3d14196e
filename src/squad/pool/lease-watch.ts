import type { Clock } from '../../substrate/ports/clock.ts';
import type { Processes } from '../../substrate/ports/processes.ts';

/** Between two looks. */
const LOOK_MS = 250;
/** A killed process is gone this long before another worker may begin. */
const MARGIN_MS = 2_500;

/** The right to work on a run, as far as this process knows it. */
export interface LeaseWatch {
  /** It was renewed, and holds for so many ms from now on. */
  kept(ms: number): void;
  /** As `kept`, by the remote, while the pool is silent. */
  confirmed(ms: number): void;
  /** Since it was renewed in the pool. */
  silentMs(): number;
  /** It is over, or about to be. Aborted once. */
  readonly lost: AbortSignal;
  lose(): void;
  stop(): void;
}

/**
 * Ends the right to work before another machine may take over. Counts by the time since the machine started, which also passes while this
 * process stands still.
 */
export function watchLease(
  { clock, processes }: { readonly clock: Clock; readonly processes: Pick<Processes, 'sinceBoot'> },
  firstMs: number,
): LeaseWatch {
  const lost = new AbortController();
  const stopped = new AbortController();
  const now = (): number => processes.sinceBoot().ms;
  let until = now() + firstMs - MARGIN_MS;
  const lose = (): void => {
    stopped.abort();
    lost.abort();
  };
  void (async () => {
    while (!stopped.signal.aborted) {
      if (now() >= until) return lose();
      await clock.sleep(LOOK_MS, stopped.signal);
    }
  })();
  let keptAt = now();
  const extend = (ms: number): void => {
    // One that came late does not bring it back.
    if (now() < until) until = Math.max(until, now() + ms - MARGIN_MS);
  };
  return {
    kept: (ms) => {
      keptAt = now();
      extend(ms);
    },
    confirmed: extend,
    silentMs: () => now() - keptAt,
    lost: lost.signal,
    lose,
    stop: () => stopped.abort(),
  };
}
