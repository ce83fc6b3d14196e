import { withFailedAttempts } from '../read-model/explain-failure.ts';
import { statusOf, type RunStatus } from '../read-model/status.ts';
import { mailOf, viewOf } from '../read-model/view-of.ts';
import { listKeptWork } from '../substrate/git/repository.ts';
import { placeOfWork } from '../substrate/git/place-of-work.ts';
import { openMachine, type Machine } from '../machine.ts';
import { isSquadError, type SquadError } from '../model/errors.ts';
import { isOver, type RunReading } from '../read-model/read-run.ts';
import { requireWhole } from '../substrate/ledger/require-whole.ts';
import { workOf } from '../read-model/next-commands.ts';
import { readRunIn, type Place } from './open-run.ts';
import { readPermissionAsks } from './permission-asks.ts';

/** The status of a run, by default the one that is running, or the newest. Needs no runtime. */
export async function readStatus(place: Place<Machine>, name: string | undefined): Promise<RunStatus> {
  return (await readCheckedStatus(place, name)).status;
}

/** `damage`: why no engine would start on the run; its status is what can be read all the same. */
interface CheckedStatus {
  readonly status: RunStatus;
  readonly damage: SquadError | undefined;
}

/** The same, with a look at the whole ledger. */
export async function readCheckedStatus(
  { host, composition: composed }: Place<Machine>,
  name: string | undefined,
): Promise<CheckedStatus> {
  const opened = { host, composition: composed ?? openMachine(host) };
  const { repository, directory, composition, now, found } = await readRunIn(opened, name, (ledger, reading) => ({
    reading: withFailedAttempts(ledger, reading),
    mail: mailOf(ledger, reading.row.id),
    live: ledger.attempts({ runId: reading.row.id, status: 'spawned' }),
  }));
  const { reading, mail, live } = found;
  const asks = await readPermissionAsks({ directory, host, now, reading }, live);
  const work = workOf(reading);
  const place = work && (await placeOfWork(composition.git, repository, work));
  const view = viewOf(reading, { now, mail, asks, place });
  // Only a task that did not end well is shown with the refs of its work, and git takes as long as all the rest.
  const kept =
    view.plan.failures.length === 0
      ? undefined
      : await listKeptWork(composition.git, repository.root, reading.row.name);
  const status = statusOf(kept === undefined ? view : viewOf(reading, { now, mail, kept, asks, place }));
  const damage = damageTo(directory, reading);
  return { status: damage === undefined ? status : { ...status, next: ['squad db check'] }, damage };
}

function damageTo(directory: string, reading: RunReading): SquadError | undefined {
  try {
    requireWhole(directory, isOver(reading) ? [] : [reading.row.id], { rows: true });
    return undefined;
  } catch (error) {
    if (isSquadError(error) && error.code === 'database-corrupt') return error;
    throw error;
  }
}
