import { KINDS } from '../../model/sprint/kinds.ts';
import { activeSprint } from '../../model/sprint/team.ts';
import type { SprintStop } from '../../model/sprint/sprint.ts';
import { plainJson } from '../../text/json.ts';
import { defined } from '../../text/defined.ts';
import { withLedger, type OpenedWorkspace } from '../open-workspace.ts';
import { lookAtTeam } from './read-team.ts';
import { finishBegun } from './step-team.ts';
import { stopSprint } from './stop-sprint.ts';

/** Has the active sprint wrap up, and returns its id; undefined: none is active. The same key again is the same stop. */
export async function stopActive(
  workspace: OpenedWorkspace,
  { by, now, key }: Pick<SprintStop, 'by' | 'now' | 'key'>,
): Promise<string | undefined> {
  const { team } = lookAtTeam(workspace);
  const before = key === undefined ? undefined : [...team.stop].find(([, stop]) => stop.key === key)?.[0];
  const id = before ?? activeSprint(team);
  if (id === undefined) return undefined;
  const stop = { at: workspace.composition.clock.now(), by, now, ...defined({ key }) };
  if (before === undefined)
    await withLedger(workspace, 'write', (ledger) =>
      ledger.writeRecord({ kind: KINDS.stop, id, value: plainJson(stop) }),
    );
  await stopSprint(workspace, id, stop);
  await finishBegun(workspace);
  return id;
}
