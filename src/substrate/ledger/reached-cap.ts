import type { Database } from 'better-sqlite3';
import { isReached, type CapName } from '../../model/spending.ts';

/** Makes `is_reached(cap, used, most)` known to the statements of this connection, so that the check judges as the engine does. */
export function teachIsReached(db: Database): void {
  const judge = (cap: CapName, used: number | null, most: number) => (isReached(cap, used ?? 0, most) ? 1 : 0);
  db.function('is_reached', { deterministic: true }, judge);
}
