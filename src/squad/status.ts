import { mailOf, statusOf, type RunStatus } from '../read-model/status.ts';
import { listKeptWork } from '../substrate/git/repository.ts';
import { openRun, type Place } from './open-run.ts';

/** The status of a run, by default the one that is running, or the newest. */
export async function readStatus(place: Place, name: string | undefined): Promise<RunStatus> {
  const { reading, repository, composition, now, also } = await openRun(place, name, (ledger, { row }) =>
    mailOf(ledger, row.id),
  );
  const status = statusOf(reading, also, now);
  if (status.failures.length === 0) return status;
  // Only a task that did not end well is shown with the refs of its work, and git takes as long as all the rest.
  return statusOf(reading, also, now, await listKeptWork(composition.git, repository.root, reading.row.name));
}
