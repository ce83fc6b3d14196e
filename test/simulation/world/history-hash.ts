import { createHash } from 'node:crypto';
import type { LedgerHistory } from '../../../src/substrate/ledger/check-database.ts';

/** Of every event in its order: type, stream, cause, instant, who wrote it and all that it says. */
export function historyHash({ events }: LedgerHistory): string {
  return createHash('sha256').update(JSON.stringify(events)).digest('hex');
}
