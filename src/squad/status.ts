import { withFailedAttempts } from '../read-model/explain-failure.ts';
import { mailOf, statusOf, type RunStatus } from '../read-model/status.ts';
import { listKeptWork } from '../substrate/git/repository.ts';
import { placeOfWork } from '../substrate/git/place-of-work.ts';
import { openMachine, type Machine } from '../machine.ts';
import { workOf } from '../read-model/next-commands.ts';
import { readRunIn, type Place } from './open-run.ts';
import { readPermissionAsks } from './permission-asks.ts';

/** The status of a run, by default the one that is running, or the newest. Needs no runtime. */
export async function readStatus(
  { host, composition: composed }: Place<Machine>,
  name: string | undefined,
): Promise<RunStatus> {
  const place = { host, composition: composed ?? openMachine(host) };
  const { repository, directory, composition, now, found } = await readRunIn(place, name, (ledger, reading) => ({
    reading: withFailedAttempts(ledger, reading),
    mail: mailOf(ledger, reading.row.id),
    live: ledger.attempts({ runId: reading.row.id, status: 'spawned' }),
  }));
  const { reading, mail, live } = found;
  const asks = await readPermissionAsks({ directory, host, now, reading }, live);
  const { name: run } = reading.row;
  const isOver = reading.published?.branch !== undefined;
  const work = isOver ? await placeOfWork(composition.git, repository, workOf(reading)) : undefined;
  const status = statusOf(reading, mail, now, [], asks, work);
  if (status.failures.length === 0) return status;
  // Only a task that did not end well is shown with the refs of its work, and git takes as long as all the rest.
  return statusOf(reading, mail, now, await listKeptWork(composition.git, repository.root, run), asks, work);
}
