import { readHistory, type LedgerHistory } from '../../src/substrate/ledger/history.ts';
import { openLedgerFile } from '../../src/substrate/ledger/ledger-file.ts';
import { closeDb } from '../../src/substrate/ledger/open-db.ts';
import { createStore } from '../../src/substrate/ledger/store.ts';

export interface WholeHistory extends LedgerHistory {
  /** The input events of all steps, in the order in which they were taken. */
  readonly steps: readonly number[];
}

/** The history in a ledger file. Throws SquadError as opening does. */
export function readLedgerHistory(path: string): WholeHistory {
  const db = openLedgerFile(path, { readOnly: true });
  try {
    const store = createStore(db, { now: () => 0 });
    const steps = store.all<{ seq: number }>('SELECT seq FROM application ORDER BY rowid').map(({ seq }) => seq);
    return { ...readHistory(store), steps };
  } finally {
    closeDb(db);
  }
}
