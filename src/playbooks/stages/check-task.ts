import type { PlanChange } from '../../model/plan/change.ts';
import { criterionCheck, type NewTask } from '../../model/plan/task.ts';
import { firstId, placed, titleNow, type Opening } from './opening.ts';
import type { Placed } from './stage-progress.ts';
import { putTask, type StageTask } from './stage-records.ts';

/** The engine runs commands. Without any, the stage is skipped, because nothing shows that anything passes. */
export function checkTask(opening: Opening, common: NewTask, checks: 'criteria' | readonly string[]): PlanChange[] {
  const { scene, of, options } = opening;
  const requires =
    checks === 'criteria'
      ? scene.objective.criteria.flatMap(({ command }) => (command === undefined ? [] : [criterionCheck(command)]))
      : checks.map((run) => ({ kind: 'command', run }) as const);
  const place = { stage: of.stage.id, pass: of.pass.pass } as const;
  const failed = of.all.findLast(({ state: { status, round } }) => status === 'failed' && round < options.reviewRounds);
  if (failed !== undefined) return checkAgain(failed, common.needs, { ...place, as: 'work' });
  const task: NewTask = { ...common, session: 'new', id: firstId(opening), title: titleNow(opening) };
  if (requires.length > 0) return placed({ ...task, kind: 'check', requires }, { ...place, as: 'work' });
  const why = 'nothing to check: no criterion has a command';
  return [...placed(task, { ...place, as: 'nothing' }), { do: 'settle-task', id: task.id, as: 'skipped', why }];
}

/** The same task, because a run whose checks pass in the end has none that failed. */
function checkAgain({ state: { id } }: Placed, needs: readonly string[], place: StageTask): PlanChange[] {
  return [
    putTask(id, place),
    { do: 'reopen-task', id, feedback: 'The work was fixed since.', session: 'new' },
    { do: 'edit-task', id, needs: [...needs] },
  ];
}
