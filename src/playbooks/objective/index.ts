import { z } from 'zod';
import type { Playbook } from '../../model/plan.ts';
import type { ChangedPrompts } from '../../prompts/render.ts';
import type { SettingsSection } from '../../model/settings.ts';
import { createStagesPlaybook } from '../stages/index.ts';
import type { StageList } from '../stages/stage-list.ts';
import { OBJECTIVE_ROLES, objectiveCast, unstaffed } from './roles.ts';
import { objectiveStages, SUMMARY_FORM } from './stages.ts';

const sectionSchema = z.strictObject({
  /** Whether its documents stay on the branch. */
  documents: z.enum(['keep', 'drop']).default('keep'),
  whenNotConverging: z.enum(['stop', 'report']).default('report'),
});

export const OBJECTIVE_SETTINGS: SettingsSection = {
  schema: sectionSchema,
  example: 'objective: { documents: keep, whenNotConverging: report }',
};

/** Thirteen stages, from an objective to work that was judged as a whole. `list`: the one that a run began with. */
export function createObjectivePlaybook(list = objectiveList(undefined, 4)): Playbook<unknown> {
  return createStagesPlaybook({
    name: 'objective',
    joinsRepositories: true,
    list,
    listFor: ({ section, limits, prompts }) => objectiveList(section, limits.reviewRounds, prompts),
    roles: OBJECTIVE_ROLES,
    cast: objectiveCast,
    lacks: unstaffed,
    settings: OBJECTIVE_SETTINGS,
    answers: { 'answer-complete': SUMMARY_FORM },
    // It works while its user sleeps, and PLAN has its own review.
    asksForPlan: 'auto',
  });
}

function objectiveList(section: unknown, rounds: number, prompts?: ChangedPrompts): StageList {
  const { documents, whenNotConverging } = sectionSchema.parse(section ?? {});
  return { stages: objectiveStages(documents, rounds, prompts), whenNotConverging };
}
