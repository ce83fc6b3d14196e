import type { StageView } from '../../../model/plan.ts';

/** The stage of a task's work, or of its review; undefined: it is in no stage. */
export type StageOf = (task: string, isReview?: boolean) => string | undefined;

/** A stage that judges has rounds. The review of a task is a stage of its own with the same task. */
export function stageIndex(stages: readonly StageView[]): StageOf {
  const work = new Map<string, string>();
  const judging = new Map<string, string>();
  for (const { id, tasks, round } of stages) {
    const index = round === undefined ? work : judging;
    for (const task of tasks) if (!index.has(task)) index.set(task, id);
  }
  return (task, isReview = false) => {
    const [first, second] = isReview ? [judging, work] : [work, judging];
    return first.get(task) ?? second.get(task);
  };
}
