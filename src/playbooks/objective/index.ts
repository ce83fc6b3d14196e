import { z } from 'zod';
import type { Playbook, View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { SettingsSection } from '../../model/settings.ts';
import { plainJson } from '../../text/json.ts';
import { failRun, missingIn } from '../shared/tasks.ts';
import { createStagesPlaybook, stagesOptions } from '../stages/index.ts';
import type { StageList } from '../stages/stage-list.ts';
import { OBJECTIVE_ROLES, objectiveCast, unstaffed } from './roles.ts';
import { objectiveStages, summarySchema } from './stages.ts';

/** Most points of each list in the reason of the run's end. The answer of COMPLETE has all of them. */
const MOST_POINTS = 10;

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
  const { planning } = playbook;
  return {
    ...playbook,
    // It works while its user sleeps, and PLAN has its own review.
    ...(planning === undefined ? {} : { planning: { ...planning, byDefault: 'auto' } }),
    parse: (source) => {
      const errors = unstaffed(source.roster);
      return errors.length === 0 ? playbook.parse(source) : { ok: false, errors };
    },
    advance: (view, event) => playbook.advance(view, event).flatMap((change) => closed(view, change)),
  };
}

/**
 * A run that ends as done reports the words of COMPLETE, which say more than the last verdict. If they name something that was asked
 * for and is not there, COMPLETE has failed: only a person can say that the run is done all the same.
 */
function closed(view: View, change: PlanChange): PlanChange[] {
  if (change.do !== 'finish' || change.outcome !== 'done') return [change];
  const last = view.tasks({ status: 'done' }).findLast(({ output }) => output?.schema === 'answer-complete');
  const said = summarySchema.safeParse(last?.answer).data;
  if (last === undefined || said === undefined) return [change];
  const { summary, tryIt, followUps } = said;
  const points = (title: string, texts: readonly string[]): string[] =>
    texts.slice(0, MOST_POINTS).map((text) => `${title}: ${text}`);
  const left = missingIn(said.left);
  const lines = [summary, ...points('Left out', left), ...points('Try it', tryIt), ...points('Follow-up', followUps)];
  if (left.length === 0 || last.acceptedBy !== undefined) return [{ ...change, why: lines.join('\n') }];
  const why = `something that was asked for is missing:\n${left.slice(0, MOST_POINTS).join('\n')}`;
  return [{ do: 'settle-task', id: last.id, as: 'failed', why }, failRun(`${last.id}: ${why}`)];
}

function listFrom(section: unknown, rounds: number): StageList {
  const { documents, whenNotConverging } = sectionSchema.parse(section ?? {});
  return { stages: objectiveStages(documents, rounds), whenNotConverging };
}
