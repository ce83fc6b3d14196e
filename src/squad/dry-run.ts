import { wrongEnvironment } from '../model/errors.ts';
import type { RunDefinition } from '../model/run.ts';
import { playbookOf } from './preflight/playbook-choice.ts';
import { plannedRun, type PlannedRun } from './preflight/planned-run.ts';
import type { ObjectiveSource } from './sources/source-of.ts';
import { checkNewRun, type NewRunOptions } from './new-run.ts';
import { openWorkspace, type Place } from './open-workspace.ts';
import { refuseInUse, sourceIn } from './folder-runs.ts';

export interface DryRun {
  readonly planned: PlannedRun;
  readonly definition: RunDefinition;
}

/** Checks everything that a run checks before it starts. Starts and writes nothing, and asks no person. */
export async function dryRun(
  place: Place,
  objective: ObjectiveSource,
  options: NewRunOptions & { readonly attended: boolean },
): Promise<DryRun> {
  const workspace = await openWorkspace(place);
  const source = sourceIn(workspace, objective);
  refuseInUse(workspace, source);
  const checked = await checkNewRun(workspace, source, { ...options, dryRun: true });
  const playbook = playbookOf(workspace.composition.playbooks, checked.definition);
  if (playbook === undefined)
    throw wrongEnvironment(`the playbook ${checked.definition.playbook} is not registered here`, '');
  return { planned: plannedRun(playbook, checked), definition: checked.definition };
}
