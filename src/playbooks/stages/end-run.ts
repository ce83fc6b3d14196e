import { cascadeText } from '../../model/plan/cascade.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { orderOf } from '../shared/mail-orders.ts';
import { failRun, failureReasons } from '../shared/tasks.ts';
import { allNeedsOf } from './list-facts.ts';
import type { StageList } from './stage-list.ts';
import { isComplete, type Scene, type StageProgress } from './stage-progress.ts';
import { roundsOf } from './stage-records.ts';

/** Ends the run once no task is open and no stage is due. */
export function endOf(scene: Scene, list: StageList, progress: readonly StageProgress[]): PlanChange[] {
  const failures = [...failedStages(list, progress), ...failedOutside(scene)];
  if (failures.length > 0) return [failRun(failures.join('\n'))];
  const left = progress.filter((one) => !isComplete(one)).map(({ stage }) => stage.id);
  if (left.length > 0) return [failRun(`nothing can continue, and these stages are not done: ${left.join(', ')}`)];
  const judge = list.stages.findLast((stage) => stage.judges !== undefined);
  const said = judge === undefined ? undefined : roundsOf(scene, judge.id).at(-1)?.summary;
  const without = progress.filter(
    ({ state, tasks }) => state === 'skipped' && tasks.some((task) => task.state.status === 'failed'),
  );
  const lines = without.map(
    ({ stage, tasks }) => `${stage.id} failed, and the run went on without it: ${whyOf(tasks)}`,
  );
  return [{ do: 'finish', outcome: 'done', why: [said || 'all work is delivered', ...lines].join('\n') }];
}

function failedStages(list: StageList, progress: readonly StageProgress[]): string[] {
  return progress
    .filter(({ state }) => state === 'failed')
    .map(({ stage, tasks }) => [`${stage.id}: ${whyOf(tasks)}`, ...cascadeOf(list, progress, stage.id)].join('\n'));
}

/** One line about all stages that never start because this one failed; none if there are none. A review is a stage too. */
export function cascadeOf(list: StageList, progress: readonly StageProgress[], id: string): string[] {
  const waiting = progress.filter(({ stage, state }) => state === 'waiting' && allNeedsOf(list, stage.id).has(id));
  const count = waiting.reduce((sum, { stage }) => sum + (stage.review === undefined ? 1 : 2), 0);
  return count === 0 ? [] : [cascadeText(count, 'stage')];
}

function whyOf(tasks: StageProgress['tasks']): string {
  const bad = tasks.filter(({ state: { status } }) => status === 'failed' || status === 'cancelled');
  return failureReasons(bad.map(({ state }) => state)).join('; ');
}

/** Work by mail that failed. An unanswered question is no failure: the asker's own work is judged. */
function failedOutside(scene: Scene): string[] {
  const failed = scene.tasks().filter(({ id, status }) => {
    const isBad = status === 'failed' || status === 'cancelled';
    return isBad && scene.record('stage-tasks', id) === undefined && orderOf(scene, id)?.answers !== true;
  });
  return failureReasons(failed);
}
