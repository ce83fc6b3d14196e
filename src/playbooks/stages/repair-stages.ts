import type { View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { PlaybookEvent } from '../../model/plan/event.ts';
import { defined } from '../../text/defined.ts';
import { repairOf } from '../shared/repair.ts';
import { addTask, failRun, workTask } from '../shared/tasks.ts';
import { finalStages } from './outside-work.ts';
import { deliveryOf, reviewOf } from './stage-duties.ts';
import { targetOf } from './list-facts.ts';
import type { Stage } from './stage-list.ts';
import type { StagesOptions } from './stage-options.ts';
import { progressOf, staffedRole } from './stage-progress.ts';

/** Plans the repair of the merged work as one that the whole is judged again after. */
export function repairOfStages(
  view: View,
  options: StagesOptions,
  event: Extract<PlaybookEvent, { type: 'gate-refused' }>,
): PlanChange[] {
  const repair = repairOf(view, event);
  const stage = builtBy(options);
  const role = stage === undefined ? undefined : staffedRole(stage.by, view.roster);
  if (repair === undefined || stage === undefined || role === undefined) return [failRun(event.problems.join('\n'))];
  const { id, title, brief, problems } = repair;
  const last = progressOf(view, options.list)
    .find((one) => one.stage.id === stage.id)
    ?.all.findLast(({ state }) => state.status === 'done');
  const review = reviewOf({
    stage,
    options,
    scene: view,
    author: role,
    findings: problems.map((text) => text.split('\n')[0] ?? ''),
  });
  const session = last === undefined ? 'new' : { of: last.state.id };
  const delivery = deliveryOf(stage, 'fix', options, view.roster, role);
  return [addTask(workTask({ id, title, role, brief }, { session, ...delivery, ...defined({ review }) }))];
}

/** The stage whose people repair the whole: the one that the last judge sends work back to, or the last that makes code. */
function builtBy({ list }: StagesOptions): Stage | undefined {
  const makesCode = (stage: Stage | undefined): boolean => stage !== undefined && 'code' in stage.makes;
  const judge = finalStages(list).at(-1);
  const target = list.stages.find(({ id }) => judge !== undefined && id === targetOf(judge));
  return makesCode(target) ? target : list.stages.findLast(makesCode);
}
