import type { FollowRecord } from '../../model/forge/follow-record.ts';
import { interventionSchema } from '../../model/plan/intervention.ts';
import { plainJson } from '../../text/json.ts';
import { findCommand, storedKey } from '../command-key.ts';
import { refuse } from '../intervene.ts';
import { openRun } from '../open-run.ts';
import { withLedger, type OpenedWorkspace } from '../open-workspace.ts';

/** Gives a round to its run, which opens it again. Once for each round, by its number. Throws `usage` for a run that cannot be opened again. */
export async function askRework(workspace: OpenedWorkspace, { run: id, number, round }: FollowRecord): Promise<void> {
  if (round === undefined) return;
  const { problems, base } = round;
  const intervention = interventionSchema.parse({ verb: 'rework', problems, ...(base === undefined ? {} : { base }) });
  const run = await openRun(workspace, id);
  const key = storedKey(id, `forge-follow/${number}/${round.number}`);
  if (findCommand(run, key) !== undefined) return;
  await refuse(run, intervention);
  const { verb, ...data } = intervention;
  await withLedger(workspace, 'write', (ledger) => ledger.command(id, verb, plainJson(data), 'squad', key));
}
