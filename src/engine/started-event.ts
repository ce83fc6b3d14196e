import { equipmentOf } from '../model/armory-facts.ts';
import type { RunEvent } from '../model/run-event.ts';
import { branchOf, type RunDefinition } from '../model/run.ts';
import { defined } from '../text/defined.ts';

/** The first event of an engine, on a resume as well. */
export function startOf(
  definition: RunDefinition,
  resumed: boolean,
  base: { readonly at: number; readonly runId: string },
): RunEvent {
  return {
    type: 'run-started',
    ...base,
    name: definition.name,
    resumed,
    playbook: definition.playbook,
    ...defined({ branch: branchOf(definition) }),
    base: definition.repository.base,
    agents: definition.agents.map((agent) => {
      const { name, role, runtime, model } = agent;
      return { name, role, runtime, ...defined({ model, equipment: equipmentOf(agent) }) };
    }),
  };
}
