import type { RunPrompts } from '../engine/engine.ts';
import { wrongEnvironment } from '../model/errors.ts';
import { playbookOf } from './preflight/playbook-choice.ts';
import { loadEngine } from './load-engine.ts';
import { checkNewRun, type NewRunOptions } from './new-run.ts';
import type { ObjectiveSource } from './sources/source-of.ts';
import { sourceIn } from './folder-runs.ts';
import { openWorkspace, type Place } from './open-workspace.ts';

/**
 * Prompts that the agents of such a run would get. Checks everything that a run checks before it exists; starts no
 * agent.
 */
export async function readPrompts(
  place: Place,
  objective: ObjectiveSource,
  options: NewRunOptions,
): Promise<RunPrompts & { readonly name: string }> {
  const workspace = await openWorkspace(place);
  const checking = checkNewRun(workspace, sourceIn(workspace, objective), options);
  const [{ definition }, { promptsOf }] = await Promise.all([checking, loadEngine()]);
  const playbook = playbookOf(workspace.composition.playbooks, definition);
  if (playbook === undefined) throw wrongEnvironment(`the playbook ${definition.playbook} is not registered here`, '');
  return { name: definition.name, ...promptsOf(playbook, definition) };
}
