import type { Database } from 'better-sqlite3';
import { failpoint } from '../system/failpoint.ts';
import { freeBallast } from './ballast.ts';
import { databaseError, isFull } from './sqlite-errors.ts';

/**
 * Makes the plain form of a transaction IMMEDIATE; LangGraph's SqliteSaver uses it. A deferred one that reads and then writes fails
 * with SQLITE_BUSY under contention, whatever the time-out.
 */
export function forceImmediate(db: Database): void {
  const transaction = db.transaction.bind(db);
  // better-sqlite3 makes each form a plain function; it hands its own `this` on to the work.
  // oxlint-disable-next-line typescript/unbound-method
  const immediate = (work: (...parameters: unknown[]) => unknown): unknown => transaction(work).immediate;
  db.transaction = immediate as typeof db.transaction;
}

/** The only write transaction. On a full disk it frees the ballast, so that the next, smaller write has room. */
export function write<T>(db: Database, work: () => T): T {
  const result = guarded(db, () =>
    db
      .transaction(() => {
        const value = work();
        failpoint('ledger.before-commit');
        return value;
      })
      .immediate(),
  );
  failpoint('ledger.after-commit');
  return result;
}

/** Several reads of one state. Deferred, because it never writes and so blocks no writer. */
export function readSnapshot<T>(db: Database, work: () => T): T {
  return guarded(db, () => db.transaction(work).deferred());
}

/** Runs some statements and turns an error of the database into a SquadError. */
export function guarded<T>(db: Database, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const typed = databaseError(db.name, error);
    if (isFull(typed)) freeBallast(db.name);
    throw typed;
  }
}
