import type { View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { PlaybookEvent } from '../../model/plan/event.ts';
import { doneWithout, repairOf } from '../shared/repair.ts';
import { addTask, failRun, workTask } from '../shared/tasks.ts';
import { addedEntry } from './added-entries.ts';
import { finalStages } from './outside-work.ts';
import { deliveryOf, reviewOf } from './stage-duties.ts';
import { targetOf } from './list-facts.ts';
import type { Stage } from './stage-list.ts';
import type { Play } from './stage-options.ts';
import { progressOf, staffedRole, type Placed, type StageProgress } from './stage-progress.ts';

/** Plans the repair of the merged work as one that the whole is judged again after. */
export function repairOfStages(
  view: View,
  options: Play,
  event: Extract<PlaybookEvent, { type: 'gate-refused' }>,
): PlanChange[] {
  const repair = repairOf(view, event);
  const progress = progressOf(view, options.list);
  const stage = builtBy(options, progress);
  const role = stage === undefined ? undefined : staffedRole(stage.by, view.roster);
  if (repair === undefined || stage === undefined || role === undefined) return [failRun(event.problems.join('\n'))];
  const { id, title, brief, problems } = repair;
  const last = lastDone(progress.find((one) => one.stage.id === stage.id));
  const reviews = reviewOf({
    stage,
    options,
    scene: view,
    author: role,
    findings: problems.map(doneWithout),
  });
  const session = last === undefined ? 'new' : { of: last.state.id };
  const acceptance = problems.map(doneWithout);
  const entry = { id, title, brief, role, needs: [], paths: [], acceptance };
  const text = `${brief}\n\nDone means:\n${acceptance.map((line) => `- ${line}`).join('\n')}`;
  const isAsked = event.from !== undefined;
  const given =
    stage.each === undefined ? [] : addedEntry(view, options, { stage, entry, first: { brief: { text }, session } });
  const added = isAsked ? given.map(withoutRequest) : given;
  if (added.length > 0) return added;
  const delivery = deliveryOf(stage, isAsked ? 'again' : 'fix', options, view.roster, role);
  const change = addTask(workTask({ id, title, role, brief }, { session, ...delivery, ...reviews }));
  return [isAsked ? withoutRequest(change) : change];
}

/** The pull request of the whole is there. It may ask for nothing that changes a file. */
function withoutRequest(change: PlanChange): PlanChange {
  if (change.do !== 'add-task' || !change.task.integrate) return change;
  const requires = change.task.requires.filter(({ kind }) => kind !== 'pr');
  return { do: 'add-task', task: { ...change.task, requires } };
}

/**
 * The stage whose people repair the whole: the one that the last judge sends work back to, or the one that made code last, whose
 * people always change something if there is such a stage.
 */
function builtBy({ list }: Play, progress: readonly StageProgress[]): Stage | undefined {
  const makesCode = (stage: Stage | undefined): boolean => stage !== undefined && 'code' in stage.makes;
  const must = ({ makes }: Stage): boolean => 'code' in makes && makes.mayChangeNothing !== true;
  const judge = finalStages(list).at(-1);
  const target = list.stages.find(({ id }) => judge !== undefined && id === targetOf(judge));
  if (makesCode(target)) return target;
  const made = progress.filter(({ stage }) => makesCode(stage));
  const musts = made.filter(({ stage }) => must(stage));
  return lastEnded(musts.length > 0 ? musts : made);
}

/** The one whose work was done last in this run; the last of the list if none was. */
function lastEnded(progress: readonly StageProgress[]): Stage | undefined {
  const endOf = (one: StageProgress): number => lastDone(one)?.state.at.ended ?? -1;
  return progress.toSorted((a, b) => endOf(a) - endOf(b)).at(-1)?.stage;
}

function lastDone(progress: StageProgress | undefined): Placed | undefined {
  return progress?.all.findLast(({ state }) => state.status === 'done');
}
