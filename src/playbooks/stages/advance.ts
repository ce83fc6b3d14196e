import type { View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { PlaybookEvent } from '../../model/plan/event.ts';
import { plainJson } from '../../text/json.ts';
import { cancelDependents, failRun } from '../shared/tasks.ts';
import { schemaNameOf } from './answers.ts';
import { endOf } from './end-run.ts';
import { skipEmptyCommit } from './commit-tasks.ts';
import { decideEntries } from './entry-judging.ts';
import { decideFailedChecks, decideRounds } from './judging.ts';
import { stageOf } from './list-facts.ts';
import { anotherJudge } from './silent-judges.ts';
import { closingStages, finalStages, judgeAgain, outsideWork } from './outside-work.ts';
import { openEach } from './opening.ts';
import { tasksProblems } from './plan-tasks.ts';
import { briefsAfter, reopenedBy } from './reopening.ts';
import { repairOfStages } from './repair-stages.ts';
import type { Stage } from './stage-list.ts';
import { optionsOf, type StagesOptions } from './stage-options.ts';
import { dueStages, givesTasks, progressOf, type Scene, type StageProgress } from './stage-progress.ts';
import { dropRound, putAnswer, stageTask, withPuts, type StageTask } from './stage-records.ts';
import { tasksOfStage } from './stage-tasks.ts';

type Heard<T extends PlaybookEvent['type']> = Extract<PlaybookEvent, { type: T }>;

export const NO_LIST = 'this run has no list of stages';

/** Changes after an event, from the list and the board alone. */
export function advance(view: View, event: PlaybookEvent): PlanChange[] {
  const options = optionsOf(view);
  if (options === undefined) return [failRun(NO_LIST)];
  switch (event.type) {
    case 'task-done':
      return done(view, options, event);
    case 'task-failed':
      return failed(view, options, event);
    case 'task-skipped':
      return skipped(view, options, event.task);
    case 'gate-refused':
      return repairOfStages(view, options, event);
    case 'refused':
      return refused(view, event);
    case 'mail':
    case 'overdue':
    case 'timer':
    case 'answered':
      return [];
    default:
      return event satisfies never;
  }
}

function done(view: View, options: StagesOptions, event: Heard<'task-done'>): PlanChange[] {
  const place = stageTask(view, event.task);
  const stage = place === undefined ? undefined : stageOf(options.list, place.stage);
  const empty = skipEmptyCommit(view, event.task);
  if (empty.length > 0) return empty;
  if (place === undefined || stage === undefined) return proceed(view, options);
  if (place.as === 'judge') return proceed(view, options, dropRound(view, place));
  const schema = schemaNameOf(stage);
  // A worker's answer stays on its task: no brief quotes it, so it is not recorded for the stage.
  if (place.as !== 'work' || schema === undefined || schema === 'worker') return proceed(view, options);
  return answered(view, options, event, { stage, place });
}

function failed(view: View, options: StagesOptions, event: Heard<'task-failed'>): PlanChange[] {
  const { task, why, category } = event;
  const progress = progressOf(view, options.list);
  const again = category === undefined ? [] : reopenedBy(options, progress, event);
  if (again.length > 0) return again;
  const another = anotherJudge(view, options.list, progress, { task, why });
  return another.length > 0 ? another : [...cancelDependents(view, task), ...proceed(view, options)];
}

/** Skips the commit and the verdict on skipped work, which leaves them nothing to do. Other tasks that need it continue without it. */
function skipped(view: View, options: StagesOptions, id: string): PlanChange[] {
  const isJudge = (task: string): boolean => {
    const place = stageTask(view, task);
    return place?.as === 'judge' && place.entry !== undefined;
  };
  const rest = view
    .tasks({ ended: false })
    .filter((task) => task.needs.includes(id) && (task.base === id || isJudge(task.id)));
  if (rest.length === 0) return proceed(view, options);
  return rest.map((task) => ({ do: 'settle-task', id: task.id, as: 'skipped', why: `${id} was skipped` }));
}

/** An answer counts once it is checked: that of a new run before its review, one that a person gave here. */
function answered(
  view: View,
  options: StagesOptions,
  { output }: Heard<'task-done'>,
  { stage, place }: { readonly stage: Stage; readonly place: StageTask },
): PlanChange[] {
  const problems = givesTasks(stage) ? tasksProblems(output, options.list) : [];
  if (problems.length > 0) return [failRun([`${stage.id}: its tasks cannot be used:`, ...problems].join('\n'))];
  const put = putAnswer(place, plainJson(output ?? null));
  const scene = withPuts(view, [put]);
  return proceed(view, options, [put, ...briefsAfter(scene, options, progressOf(scene, options.list), place)]);
}

const ENDS_STEP: ReadonlySet<PlanChange['do']> = new Set(['finish', 'settle-task', 'reopen-task']);

/** Acts on what has ended: decides rounds, starts the stages that are due, and ends the run once there is nothing left. */
function proceed(view: View, options: StagesOptions, before: readonly PlanChange[] = []): PlanChange[] {
  const { list } = options;
  let scene: Scene = withPuts(view, before);
  let changes: PlanChange[] = [...before];
  let progress = progressOf(scene, list);
  const steps = [decideEntries, decideFailedChecks, decideRounds, judgeAgain];
  for (const step of steps) {
    const more = step(scene, list, progress);
    if (more.length === 0) continue;
    changes = [...changes, ...more];
    // The board does not show yet what these open or end.
    if (more.some((change) => ENDS_STEP.has(change.do))) return changes;
    scene = withPuts(scene, more);
    progress = progressOf(scene, list);
  }
  const started = openStages(scene, options, progress);
  if (started.length > 0) return [...changes, ...started];
  const isOpen = scene.tasks({ ended: false }).length > 0;
  return isOpen || waitsForApproval(view, progress) ? changes : [...changes, ...endOf(scene, list, progress)];
}

/** Whether a person is still asked about the plan: its task has ended, and its answer does not count yet. */
function waitsForApproval({ asksForPlan }: View, progress: readonly StageProgress[]): boolean {
  if (asksForPlan !== true) return false;
  return progress.some(
    ({ stage, state, tasks }) =>
      givesTasks(stage) && state === 'live' && tasks.every((task) => task.state.status === 'done'),
  );
}

/** The tasks of all stages that are due. */
export function openStages(
  scene: Scene,
  options: StagesOptions,
  progress: readonly StageProgress[] = progressOf(scene, options.list),
): PlanChange[] {
  const { list } = options;
  const finals = new Set(finalStages(list).map(({ id }) => id));
  const closing = new Set(closingStages(list).map(({ id }) => id));
  const openings = dueStages(progress, list).map((of) => {
    const outside = finals.has(of.stage.id) ? outsideWork(scene) : [];
    const isLate = closing.has(of.stage.id);
    const earlier = of.all.flatMap(({ state }) => (isLate && state.at.ended === undefined ? [state] : []));
    return { scene, options, progress, of, also: [...outside, ...earlier].map(({ id }) => id) };
  });
  return openEach(openings, tasksOfStage);
}

/** A change that cannot be applied leaves a hole in the plan, so the run stops. An entry without rounds left fails alone. */
function refused(view: View, { change, why }: Heard<'refused'>): PlanChange[] {
  if (change.do === 'add-task') return [failRun(`${change.task.id} cannot be planned: ${why}`)];
  if (change.do !== 'reopen-task') return [];
  const { id, feedback } = change;
  if (stageTask(view, id)?.entry === undefined) return [failRun(`${id} cannot be corrected: ${why}\n${feedback}`)];
  return [{ do: 'settle-task', id, as: 'failed', why: `${why}, and its last test or review failed: ${feedback}` }];
}
