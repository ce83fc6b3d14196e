import type { View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { PlaybookEvent } from '../../model/plan/event.ts';
import { plainJson } from '../../text/json.ts';
import { cancelDependents, failRun } from '../shared/tasks.ts';
import { formNameOf } from './answers.ts';
import { answeredByPerson, dropApproval } from './approving.ts';
import { endOf } from './end-run.ts';
import { skipEmptyCommit } from './commit-tasks.ts';
import { decideEntries } from './entry-judging.ts';
import { decideFailedChecks, decideRounds } from './judging.ts';
import { givesTasks, isRead, stageOf } from './list-facts.ts';
import { anotherJudge } from './silent-judges.ts';
import { closingStages, finalStages, judgeAgain, outsideWork } from './outside-work.ts';
import { openEach } from './opening.ts';
import { briefsAfter, reopenedBy } from './reopening.ts';
import { repairOfStages } from './repair-stages.ts';
import type { Stage, StageList } from './stage-list.ts';
import { optionsOf, type Forms, type Play, type StageForm } from './stage-options.ts';
import { dueStages, progressOf, type Scene, type StageProgress } from './stage-progress.ts';
import { dropRound, putAnswer, stageTask, withPuts, type StageTask } from './stage-records.ts';
import { tasksOfStage } from './stage-tasks.ts';

type Heard<T extends PlaybookEvent['type']> = Extract<PlaybookEvent, { type: T }>;

export const NO_LIST = 'this run has no list of stages';

/** Changes after an event, from the list and the board alone. */
export function advance(view: View, event: PlaybookEvent, forms: Forms): PlanChange[] {
  const frozen = optionsOf(view);
  if (frozen === undefined) return [failRun(NO_LIST)];
  const options = { ...frozen, forms };
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
      return [];
    case 'answered': {
      const heard = answeredByPerson(view, options, event);
      return heard === undefined || heard.some((change) => change.do === 'finish')
        ? (heard ?? [])
        : proceed(view, options, heard);
    }
    default:
      return event satisfies never;
  }
}

function done(view: View, options: Play, event: Heard<'task-done'>): PlanChange[] {
  const place = stageTask(view, event.task);
  const stage = place === undefined ? undefined : stageOf(options.list, place.stage);
  const empty = skipEmptyCommit(view, event.task);
  if (empty.length > 0) return empty;
  if (place === undefined || stage === undefined) return proceed(view, options);
  if (place.as === 'judge') return proceed(view, options, [...dropRound(view, place), ...dropApproval(view, stage.id)]);
  if (place.as !== 'work' || formNameOf(stage) === undefined) return proceed(view, options);
  return answered(view, options, event, { stage, place });
}

function failed(view: View, options: Play, event: Heard<'task-failed'>): PlanChange[] {
  const { task, why, category } = event;
  const progress = progressOf(view, options.list);
  const again = category === undefined ? [] : reopenedBy(options, progress, event);
  if (again.length > 0) return again;
  if (isPlanAlone(view, options, task)) return [failRun(why)];
  const another = anotherJudge(view, options.list, progress, { task, why });
  return another.length > 0 ? another : [...cancelDependents(view, task), ...proceed(view, options)];
}

/** Whether it is the plan of a run of which people see tasks: without it there are no others. */
function isPlanAlone(view: View, { list }: Play, task: string): boolean {
  const stage = stageOf(list, stageTask(view, task)?.stage ?? '');
  return list.shows === 'tasks' && stage !== undefined && givesTasks(list, stage);
}

/** Skips the commit and the verdict on skipped work, which leaves them nothing to do. Other tasks that need it continue without it. */
function skipped(view: View, options: Play, id: string): PlanChange[] {
  const isJudge = (task: string): boolean => {
    const place = stageTask(view, task);
    return place?.as === 'judge' && place.entry !== undefined;
  };
  if (isPlanAlone(view, options, id)) return [failRun('the plan was skipped')];
  const rest = view
    .tasks({ ended: false })
    .filter((task) => task.needs.includes(id) && (task.base === id || isJudge(task.id)));
  if (rest.length === 0) return proceed(view, options);
  return rest.map((task) => ({ do: 'settle-task', id: task.id, as: 'skipped', why: `${id} was skipped` }));
}

/** An answer counts once it is checked: that of a new run before its review, one that a person gave here. */
function answered(
  view: View,
  options: Play,
  { task, output }: Heard<'task-done'>,
  { stage, place }: { readonly stage: Stage; readonly place: StageTask },
): PlanChange[] {
  const answer = plainJson(output ?? null);
  const form = options.forms[formNameOf(stage) ?? ''];
  const reading = form?.read?.(view, answer, task) ?? {};
  if (reading.problems !== undefined && form?.late !== undefined) return unusable(view, form, task, reading.problems);
  if (reading.problems !== undefined) {
    const lines = reading.problems.map((problem) => `- ${problem}`);
    return [failRun([`${stage.id}: its answer cannot be used:`, ...lines].join('\n'))];
  }
  const { entries, changes = [] } = reading;
  // No brief quotes it, so that it stays on its task alone.
  const isRecorded = isRead(options.list, stage.id);
  const put = putAnswer(place, answer, entries);
  // The board does not show yet what these open or end.
  if (changes.some((change) => ENDS_STEP.has(change.do))) return [...changes, ...(isRecorded ? [put] : [])];
  if (!isRecorded) return proceed(view, options, changes);
  const scene = withPuts(view, [put]);
  const briefs = briefsAfter(scene, options, progressOf(scene, options.list), place);
  return proceed(view, options, [...changes, put, ...briefs]);
}

/** Its author has one more turn. */
function unusable(view: View, form: StageForm, id: string, problems: readonly string[]): PlanChange[] {
  const { refusal = '', late = '' } = form;
  const said = (first: string): string => [first, ...problems].join('\n');
  if ((view.task(id)?.round ?? 1) > 1) return [{ do: 'settle-task', id, as: 'failed', why: said(late) }];
  return [{ do: 'reopen-task', id, session: 'same', feedback: said(refusal) }];
}

const ENDS_STEP: ReadonlySet<PlanChange['do']> = new Set(['finish', 'settle-task', 'reopen-task']);

/** Acts on what has ended: decides rounds, starts the stages that are due, and ends the run once there is nothing left. */
function proceed(view: View, options: Play, before: readonly PlanChange[] = []): PlanChange[] {
  const { list } = options;
  let scene: View = withPuts(view, before);
  let changes: PlanChange[] = [...before];
  let progress = progressOf(scene, list);
  const steps = [decideEntries, decideFailedChecks, decideRounds, judgeAgain];
  for (const step of steps) {
    const more = step(scene, options, progress);
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
  return isOpen || waitsForPerson(view, list, progress) ? changes : [...changes, ...endOf(scene, options, progress)];
}

/** Whether a person is still asked about the work, or about the plan: its task has ended, and its answer does not count yet. */
function waitsForPerson({ asksForPlan }: View, list: StageList, progress: readonly StageProgress[]): boolean {
  return progress.some(({ stage, state, tasks }) => {
    const isAsked = 'approval' in stage.makes || (asksForPlan === true && givesTasks(list, stage));
    return isAsked && state === 'live' && tasks.every((task) => task.state.status === 'done');
  });
}

/** The tasks of all stages that are due. */
export function openStages(
  scene: Scene,
  options: Play,
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
