import { z } from 'zod';
import type { StageView } from './plan.ts';

/** A stage as events and `squad status --json` show it: API. Times are epoch ms. */
export const shownStageSchema = z.object({
  id: z.string(),
  title: z.string(),
  /** `cancelled`: the run has ended, and it did not begin. */
  state: z.enum(['waiting', 'live', 'done', 'failed', 'skipped', 'cancelled']),
  /** The agents at work in it, or who did it. */
  by: z.array(z.string()),
  tasks: z.array(z.string()),
  /** Rounds begun, and how many it may take. Absent: nothing is judged in it. */
  round: z.object({ taken: z.int().nonnegative(), cap: z.int().positive() }).optional(),
  startedAt: z.int().optional(),
  endedAt: z.int().optional(),
});
export type ShownStage = z.infer<typeof shownStageSchema>;

/** The state in one column; the word says the same. */
export const STAGE_SIGNS: Readonly<Record<ShownStage['state'], string>> = {
  done: '✓',
  live: '◉',
  waiting: '○',
  failed: '✗',
  skipped: '–',
  cancelled: '–',
};

export function shownStage(view: StageView): ShownStage {
  return { ...view, by: [...view.by], tasks: [...view.tasks] };
}

/** Stages of a run that no engine drives: without a turn at work, what is open waits for the next engine. */
export function stagesAtRest(stages: readonly ShownStage[]): readonly ShownStage[] {
  return stages.map((stage) => (stage.state === 'live' ? { ...stage, state: 'waiting' } : stage));
}

/** A stage with its position, such as 4 of 13. */
export interface StagePlace<Stage> {
  readonly stage: Stage;
  readonly place: number;
  readonly of: number;
}

/** Where a run is: the first live stage, else the one that failed, else the next one, else the last one. undefined: no stages. */
export function currentStage<Stage extends Pick<ShownStage, 'state'>>(
  stages: readonly Stage[],
): StagePlace<Stage> | undefined {
  for (const state of ['live', 'failed', 'waiting', 'cancelled'] as const) {
    const index = stages.findIndex((stage) => stage.state === state);
    const stage = stages[index];
    if (stage !== undefined) return { stage, place: index + 1, of: stages.length };
  }
  const last = stages.at(-1);
  return last === undefined ? undefined : { stage: last, place: stages.length, of: stages.length };
}

/** The current stage and its position, for a list of runs. */
export function stageReached(
  stages: readonly Pick<ShownStage, 'id' | 'state'>[],
): { id: string; place: number; of: number } | undefined {
  const current = currentStage(stages);
  return current === undefined ? undefined : { id: current.stage.id, place: current.place, of: current.of };
}

/** `SPEC_REVIEW (4/13)`: text of the playbook, so not ready to show. */
export function placeText({ stage, place, of }: StagePlace<Pick<StageView, 'id'>>): string {
  return `${stage.id} (${place}/${of})`;
}

/** `round 2 of 4`; empty: none has begun. */
export function roundText({ round }: Pick<ShownStage, 'round'>): string {
  return round === undefined || round.taken === 0 ? '' : `round ${round.taken} of ${round.cap}`;
}
