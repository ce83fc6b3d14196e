import { watch } from 'node:fs';
import { ledgerPath } from './ledger-file.ts';

/** Calls `onWrite` after each commit, also of other processes. Where nothing can be watched it never does. Returns its end. */
export function watchLedger(directory: string, onWrite: () => void): () => void {
  try {
    const watcher = watch(`${ledgerPath(directory)}-wal`, { persistent: false }, onWrite).on('error', onWrite);
    return () => watcher.close();
  } catch {
    return () => undefined;
  }
}
