import type { TaskView } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { reached } from '../shared/tasks.ts';
import { allNeedsOf, givesTasks, judgesWhole, targetOf, wayBetween } from './list-facts.ts';
import type { Stage, StageList } from './stage-list.ts';
import type { StagesOptions } from './stage-options.ts';
import type { Scene, StageProgress } from './stage-progress.ts';
import { passOf, putPass, stageTask } from './stage-records.ts';

/** The stages that judge the merged whole, in order: the last one that judges, and what lies between it and the work. */
export function finalStages(list: StageList): readonly Stage[] {
  const judge = list.stages.findLast(judgesWhole);
  const target = judge && targetOf(judge);
  return judge === undefined || target === undefined ? [] : wayBetween(list, target, judge.id);
}

/**
 * The stages that close the work after its last judge: their words, and the documents that they remove, are those of the judged
 * whole. Without code and plans that come as late, which are made once.
 */
export function closingStages(list: StageList): readonly Stage[] {
  const judge = finalStages(list).at(-1);
  if (judge === undefined) return [];
  const isOnce = (stage: Stage): boolean => 'code' in stage.makes || 'commit' in stage.makes || givesTasks(list, stage);
  return list.stages.filter(
    ({ id }) => allNeedsOf(list, id).has(judge.id) && !wayBetween(list, judge.id, id).some(isOnce),
  );
}

/** Whether a task belongs to a stage, and neither mail nor a repair added it. */
export function isPlanned(scene: Pick<Scene, 'record' | 'records'>, task: string): boolean {
  const place = stageTask(scene, task);
  return place !== undefined && place.added !== true;
}

/** Work that no stage planned (mail added it, or a repair) and that may still be delivered, or was. */
export function outsideWork(scene: Pick<Scene, 'tasks' | 'record' | 'records'>): readonly TaskView[] {
  return scene.tasks().filter(({ id, integrate, status, commit }) => {
    if (!integrate || isPlanned(scene, id)) return false;
    return status === 'done' ? commit !== undefined : !['failed', 'skipped', 'cancelled'].includes(status);
  });
}

/** Judges and closes the whole again if there is work that its judges did not wait for. This is no rejection. */
export function judgeAgain(scene: Scene, { list }: StagesOptions, progress: readonly StageProgress[]): PlanChange[] {
  const finals = finalStages(list);
  const states = finals.flatMap(({ id }) => progress.find(({ stage }) => stage.id === id) ?? []);
  if (states.length === 0 || states.some(({ state }) => state !== 'done' && state !== 'skipped')) return [];
  // A stage that commits has no tasks where the entries are committed already.
  const [task] = states.flatMap(({ tasks }) => tasks.filter(({ added }) => added !== true));
  const judged = task === undefined ? new Set<string>() : reached(scene, task.state.id);
  if (outsideWork(scene).every(({ id }) => judged.has(id))) return [];
  const begun = closingStages(list).filter(({ id }) =>
    progress.some(({ stage, state }) => stage.id === id && (state === 'done' || state === 'live')),
  );
  return [...finals, ...begun].map(({ id }) =>
    putPass(id, { pass: passOf(scene, id).pass + 1, way: 'again', findings: [] }),
  );
}
