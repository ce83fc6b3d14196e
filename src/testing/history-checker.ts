/** Judges a ledger from outside: run it after every test that kills something. */
export { checkHistory, HISTORY_RULES, type Violation } from '../substrate/ledger/history-checker.ts';
export type { LedgerHistory } from '../substrate/ledger/history.ts';
export { readLedgerHistory } from '../substrate/ledger/check-database.ts';
