import type { Clock } from '../../substrate/ports/clock.ts';
import { POOL_LEASE } from '../../substrate/ports/pool.ts';

/** Whether the database of the pool answers this worker. */
export interface Contact {
  answered(): void;
  failed(): void;
  /** It has answered for the time of a lease. If it was away for all, each worker has renewed what it has by then. */
  isSteady(): boolean;
}

export function createContact({ monotonic }: Pick<Clock, 'monotonic'>): Contact {
  let isAway = false;
  let since = -Infinity;
  return {
    answered: () => {
      if (isAway) since = monotonic();
      isAway = false;
    },
    failed: () => {
      isAway = true;
    },
    isSteady: () => !isAway && monotonic() - since >= POOL_LEASE.heldMs,
  };
}
