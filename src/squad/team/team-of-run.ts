import type { Machine } from '../../engine/machine.ts';
import { OF_A_TEAM } from '../../model/playbook-name.ts';
import type { Ledger } from '../../substrate/ports/ledger.ts';
import type { ShownTeam } from '../../view/sprint/shown-team-schema.ts';
import { lookIn, type OpenedWorkspace } from '../open-workspace.ts';

interface OfRun {
  readonly run: string;
  readonly playbook: string;
}

/** Follows the team of a run. undefined: the run is of none, and nothing is loaded or read for it. */
export async function followTeamOf(
  ledger: Ledger,
  { run, playbook }: OfRun,
): Promise<(() => ShownTeam | undefined) | undefined> {
  if (!OF_A_TEAM.has(playbook)) return undefined;
  return (await import('./show-team.ts')).followShownTeam(ledger, run);
}

/** The team of a run, as it is now. */
export async function readTeamOf(
  workspace: OpenedWorkspace<Machine>,
  { run, playbook }: OfRun,
): Promise<ShownTeam | undefined> {
  if (!OF_A_TEAM.has(playbook)) return undefined;
  const { readShownTeam } = await import('./show-team.ts');
  return lookIn(workspace, (ledger) => readShownTeam(ledger, run));
}
