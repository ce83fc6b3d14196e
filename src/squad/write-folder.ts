import type { RunReading } from '../read-model/read-run.ts';
import { loadEngine } from './load-engine.ts';
import type { TrustOption } from './new-run.ts';
import { openRun, type Place } from './open-run.ts';
import { agreeToRun } from './run-consent.ts';
import { refuseReopening } from './session-runs.ts';

/**
 * Writes the folder of a run that is over. Returns the folder. Throws `usage` if a newer run has played it, and `wrong-environment` if
 * a file cannot be written.
 */
export async function writeFolder(
  place: Place,
  runId: string,
  { warn, trust }: TrustOption & { readonly warn: (text: string) => void },
): Promise<string> {
  const run = await openRun(place, runId);
  await agreeToRun(run, runId, trust);
  const { composition, host, repository } = run;
  const { writeFolderAgain } = await loadEngine();
  const refuse = (now: RunReading): void => refuseReopening(run, now);
  return writeFolderAgain({ ...composition, host, warn, refuse }, repository.root, runId);
}
