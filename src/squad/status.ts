import { openMachine, type Machine } from '../engine/machine.ts';
import { isSquadError, type SquadError } from '../model/errors.ts';
import { isOver, type RunReading } from '../view/read-run.ts';
import { sharedLimitsView } from '../view/shared-limits.ts';
import { statusOf, type RunStatus } from '../view/status.ts';
import { defined } from '../text/defined.ts';
import { requireWhole } from '../substrate/ledger/require-whole.ts';
import type { Place } from './open-workspace.ts';
import { openView, viewNow } from './read-view.ts';
import { readTeamOf } from './team/team-of-run.ts';

/** The status of a run, by default the one that is running, or the newest. Needs no runtime. */
export async function readStatus(place: Place<Machine>, name: string | undefined): Promise<RunStatus> {
  return (await readCheckedStatus(place, name)).status;
}

/** `damage`: why no engine would start on the run; its status is what can be read all the same. */
export interface CheckedStatus {
  readonly status: RunStatus;
  readonly damage: SquadError | undefined;
}

/** As `readStatus`, and checks the whole ledger for damage. */
export async function readCheckedStatus(
  { host, composition: composed }: Place<Machine>,
  name: string | undefined,
): Promise<CheckedStatus> {
  const opened = await openView({ host, composition: composed ?? openMachine(host) }, name);
  const view = await viewNow(opened);
  const { shared } = opened;
  const { runId: run, playbook } = view.run;
  const team = await readTeamOf(opened, { run, playbook });
  const limits = shared === undefined ? undefined : sharedLimitsView(shared);
  const status = { ...statusOf(view), ...defined({ sharedLimits: limits, team }) };
  const damage = damageTo(opened.directory, opened.reading);
  return { status: damage === undefined ? status : { ...status, next: ['squad db check'] }, damage };
}

/** `reading`: undefined of a run that is over. */
function damageTo(directory: string, reading: RunReading | undefined): SquadError | undefined {
  try {
    const isOpen = reading !== undefined && !isOver(reading);
    requireWhole(directory, isOpen ? [reading.row.id] : [], { rows: true });
    return undefined;
  } catch (error) {
    if (isSquadError(error) && error.code === 'database-corrupt') return error;
    throw error;
  }
}
