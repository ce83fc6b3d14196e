import { readHistory, type LedgerHistory } from '../../src/substrate/ledger/history.ts';
import { openLedgerFile } from '../../src/substrate/ledger/ledger-file.ts';
import { closeDb } from '../../src/substrate/ledger/open-db.ts';
import { createStore } from '../../src/substrate/ledger/store.ts';

/** Everything in a ledger file, for the history checker. Throws SquadError as opening does. */
export function readLedgerHistory(path: string): LedgerHistory {
  const db = openLedgerFile(path, { readOnly: true });
  try {
    return readHistory(createStore(db, { now: () => 0 }));
  } finally {
    closeDb(db);
  }
}
