import { errorText } from '../model/errors.ts';
import type { RunEvent } from '../model/run-event.ts';
import { backUpAfterRun, ledgerPath } from '../substrate/ledger/index.ts';
import type { Clock } from '../substrate/ports/clock.ts';
import type { RunResources } from './run-resources.ts';

/** Backs up the ledger after the run has ended. A failed backup, for example on a full disk, does not fail the run. */
export async function keepBackup(
  ports: { readonly clock: Clock; onEvent?(event: RunEvent): void },
  { directory }: RunResources,
  runId: string,
): Promise<void> {
  try {
    await backUpAfterRun(ledgerPath(directory), ports.clock.now());
  } catch (error) {
    const text = `the ledger was not backed up: ${errorText(error)}`;
    ports.onEvent?.({ type: 'warning', at: ports.clock.now(), runId, text });
  }
}
