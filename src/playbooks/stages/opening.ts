import type { PlanChange } from '../../model/plan/change.ts';
import type { NewTask } from '../../model/plan/task.ts';
import { addTask } from '../shared/tasks.ts';
import { givesTasks, needsOf, taskIdOf, titleOf } from './list-facts.ts';
import { freeId, lastTask } from './stage-ids.ts';
import type { Stage } from './stage-list.ts';
import type { Play } from './stage-options.ts';
import type { Scene, StageProgress } from './stage-progress.ts';
import { putTask, type StageTask } from './stage-records.ts';

/** The input for planning the tasks of one stage. */
export interface Opening {
  readonly scene: Scene;
  readonly options: Play;
  readonly progress: readonly StageProgress[];
  readonly of: StageProgress;
  /** Tasks that it waits for besides those of its needs. */
  readonly also: readonly string[];
  /** Ids of tasks that this step adds for other stages. */
  readonly taken: ReadonlySet<string>;
  /** The tasks that the stages before it have for the same entry, by stage, where they are planned in the same step. */
  readonly entryTasks?: ReadonlyMap<string, readonly string[]>;
}

/** The task of a stage that came last, of the entry if it has one for each. */
export function taskBefore({ progress, entryTasks }: Opening, stage: string, entry?: string): string | undefined {
  return entryTasks?.get(stage)?.at(-1) ?? lastTask(progress, stage, entry);
}

/** A task, and the record of its place. */
export function placed(task: NewTask, place: StageTask): PlanChange[] {
  return [putTask(task.id, place), addTask(task)];
}

/** The id of the stage's task, with the number of a later pass. */
export function firstId({ scene, of: { stage, pass }, taken }: Opening): string {
  const id = taskIdOf(stage);
  return freeId(scene, pass.pass === 1 ? id : `${id}-${pass.pass}`, taken);
}

export function titleNow({ of: { stage, pass } }: Opening): string {
  const title = stage.shownAs === undefined ? titleOf(stage) : `${stage.shownAs}: ${titleOf(stage)}`;
  return pass.pass === 1 ? title : `${title} (${pass.pass})`;
}

/** Tasks of its needs that delivered something, or were skipped. */
export function needsFor({ options, progress, of, also }: Opening): string[] {
  const needs = new Set(needsOf(options.list, of.stage));
  // A person who sees tasks alone knows that the plan is before all of them.
  const isSeen = (stage: Stage): boolean => options.list.shows !== 'tasks' || !givesTasks(options.list, stage);
  const before =
    needs.size === 0
      ? []
      : progress.filter(({ stage }) => needs.has(stage.id) && isSeen(stage)).flatMap(({ tasks }) => tasks);
  const ended = before.filter(({ state: { status } }) => status === 'done' || status === 'skipped');
  return [...new Set([...ended.map(({ state }) => state.id), ...also])];
}

/** The changes of several openings, each with ids that the others do not take. */
export function openEach(
  openings: readonly Omit<Opening, 'taken'>[],
  open: (opening: Opening) => PlanChange[],
): PlanChange[] {
  const changes: PlanChange[] = [];
  const taken = new Set<string>();
  for (const opening of openings) {
    for (const change of open({ ...opening, taken })) {
      changes.push(change);
      if (change.do === 'add-task') taken.add(change.task.id);
    }
  }
  return changes;
}
