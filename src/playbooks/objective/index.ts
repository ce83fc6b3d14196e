import { z } from 'zod';
import type { Playbook } from '../../model/plan.ts';
import type { SettingsSection } from '../../model/settings.ts';
import { plainJson } from '../../text/json.ts';
import { createStagesPlaybook, stagesOptions } from '../stages/index.ts';
import type { StageList } from '../stages/stage-list.ts';
import { OBJECTIVE_ROLES, objectiveCast, unstaffed } from './roles.ts';
import { objectiveStages } from './stages.ts';

const sectionSchema = z.strictObject({
  /** Whether its documents stay on the branch. */
  documents: z.enum(['keep', 'drop']).default('keep'),
  whenNotConverging: z.enum(['stop', 'report']).default('report'),
});

export const OBJECTIVE_SETTINGS: SettingsSection = {
  schema: sectionSchema,
  example: 'objective: { documents: keep, whenNotConverging: report }',
};

/** Thirteen stages, from an objective to work that was judged as a whole. `frozen`: the list that a run began with. */
export function createObjectivePlaybook(frozen: StageList = listFrom(undefined, 4)): Playbook<unknown> {
  const playbook = createStagesPlaybook({
    name: 'objective',
    list: frozen,
    roles: OBJECTIVE_ROLES,
    cast: objectiveCast,
    settings: OBJECTIVE_SETTINGS,
    options: (source) => plainJson(stagesOptions(listFrom(source.section, source.limits.reviewRounds), source)),
  });
  return {
    ...playbook,
    parse: (source) => {
      const errors = unstaffed(source.roster);
      return errors.length === 0 ? playbook.parse(source) : { ok: false, errors };
    },
  };
}

function listFrom(section: unknown, rounds: number): StageList {
  const { documents, whenNotConverging } = sectionSchema.parse(section ?? {});
  return { stages: objectiveStages(documents, rounds), whenNotConverging };
}
