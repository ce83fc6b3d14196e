import type { Clock } from '../ports/clock.ts';
import type { PoolStore } from '../ports/pool.ts';
import { bundleVerbs } from './bundles.ts';
import { claimVerbs } from './claims.ts';
import { commandVerbs } from './commands.ts';
import type { PoolDatabase } from './database.ts';
import { runVerbs } from './runs.ts';
import { CHANGES } from './statements.ts';
import { workerVerbs } from './workers.ts';

/** The store of a pool on a database that has its tables. */
export function createPoolStore(database: PoolDatabase, clock: Pick<Clock, 'now'>): PoolStore {
  return {
    ...runVerbs(database),
    ...claimVerbs(database),
    ...bundleVerbs(database),
    ...commandVerbs(database, () => clock.now()),
    ...workerVerbs(database),
    follow: (onChange) => database.listen(CHANGES, onChange),
    close: async () => database.close(),
  };
}
