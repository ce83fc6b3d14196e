import { errorText, isSquadError, SquadError } from '../../model/errors.ts';
import { plainLine } from '../../text/plain-text.ts';
import type { Clock } from '../../substrate/ports/clock.ts';

/** Between two tries of one that could not be stored. */
const AGAIN_MS = 2_000;

/** Keeps a run in the pool as it is, one bundle after the other. */
export interface Bundles {
  /** Something has changed. */
  request(): void;
  /** Resolves once all that is on record now is stored. Rejects once the run is another worker’s. */
  flush(): Promise<void>;
  /** For how long something has been waiting for a bundle that could not be stored. */
  unstoredMs(): number;
  /** Waits for the one that is under way. */
  close(): Promise<void>;
}

interface BundlePorts {
  readonly clock: Clock;
  /** Stores the run as it is now. */
  readonly store: () => Promise<void>;
  /** Aborted: the run is another worker’s, or may be. */
  readonly lost: AbortSignal;
  readonly say: (text: string) => void;
}

/** `store` is never called twice at once. What fails is tried again until it is stored or the run is lost. */
export function createBundles({ clock, store, lost, say }: BundlePorts): Bundles {
  /** Counts requests; `stored`: up to which one all is stored. */
  const now: { wanted: number; stored: number; fenced: unknown; isClosed: boolean } = {
    ...{ wanted: 0, stored: 0, fenced: undefined, isClosed: false },
  };
  let since: number | undefined;
  let working: Promise<void> | undefined;
  const failed = (error: unknown): void => {
    if (isSquadError(error) && error.code === 'lease-fenced') now.fenced = error;
    else if (since === undefined) say(`nothing can be kept in the pool now: ${plainLine(errorText(error), 300)}`);
    since ??= clock.monotonic();
  };
  const work = async (): Promise<void> => {
    while (now.stored < now.wanted && now.fenced === undefined && !lost.aborted && !now.isClosed) {
      const upTo = now.wanted;
      try {
        await store();
        now.stored = upTo;
        if (since !== undefined) say('the pool keeps the run again');
        since = undefined;
      } catch (error) {
        failed(error);
        if (now.fenced === undefined) await clock.sleep(AGAIN_MS, lost);
      }
    }
  };
  const start = (): Promise<void> => {
    working ??= work().finally(() => (working = undefined));
    return working;
  };
  return {
    request: () => {
      now.wanted += 1;
      void start();
    },
    flush: async () => {
      const upTo = (now.wanted += 1);
      while (now.stored < upTo) {
        await start();
        if (now.fenced !== undefined) throw now.fenced;
        if (lost.aborted || now.isClosed) throw lostRun();
      }
    },
    unstoredMs: () => (since === undefined ? 0 : clock.monotonic() - since),
    close: async () => {
      now.isClosed = true;
      await working;
    },
  };
}

function lostRun(): SquadError {
  return new SquadError({
    code: 'lease-fenced',
    message: 'the pool could not be reached in time, so another worker may have the run',
    next: 'See who has it with `squad pool`.',
  });
}
