import {
  brokenRules,
  readHistory,
  type CapsOfRuns,
  type LedgerHistory,
  type Violation,
} from '../../src/substrate/ledger/check-database.ts';
import { openLedgerFile } from '../../src/substrate/ledger/ledger-file.ts';
import { closeDb } from '../../src/substrate/ledger/open-db.ts';
import { createStore, type Store } from '../../src/substrate/ledger/store.ts';
import { readSnapshot } from '../../src/substrate/ledger/transactions.ts';

export interface WholeHistory extends LedgerHistory {
  /** The input events of all steps, in the order in which they were taken. */
  readonly steps: readonly number[];
}

/** The history in a ledger file. Throws SquadError as opening does. */
export function readLedgerHistory(path: string): WholeHistory {
  return look(path, (store) => {
    const steps = store.all<{ seq: number }>('SELECT seq FROM application ORDER BY rowid').map(({ seq }) => seq);
    return { ...readHistory(store), steps };
  });
}

/** The promises that the rows of a ledger file break. `caps`: the limits of its runs. */
export function checkHistory(path: string, caps?: CapsOfRuns): Violation[] {
  return look(path, (store) => brokenRules(store, caps));
}

function look<T>(path: string, read: (store: Store) => T): T {
  const db = openLedgerFile(path, { readOnly: true });
  try {
    return readSnapshot(db, () => read(createStore(db, { now: () => 0 })));
  } finally {
    closeDb(db);
  }
}
