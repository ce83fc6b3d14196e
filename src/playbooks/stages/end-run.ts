import { cascadeText } from '../../model/plan/cascade.ts';
import type { View } from '../../model/plan.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import { atMost } from '../../text/at-most.ts';
import { orderOf } from '../shared/mail-orders.ts';
import { failRun, failureReasons, finishWhenEnded } from '../shared/tasks.ts';
import { formNameOf } from './answers.ts';
import { dependentsOf, judgesWhole, nameOf, reviewsIn } from './list-facts.ts';
import type { Stage, StageList } from './stage-list.ts';
import { isPlanned } from './outside-work.ts';
import type { Play } from './stage-options.ts';
import { isComplete, type Scene, type StageProgress } from './stage-progress.ts';
import { roundsOf } from './stage-records.ts';

/** Ends the run once no task is open and no stage is due. */
export function endOf(scene: View, options: Play, progress: readonly StageProgress[]): PlanChange[] {
  const { list } = options;
  if (list.shows === 'tasks') return finishWhenEnded(scene);
  const failures = [...failedStages(list, progress), ...failedOutside(scene)];
  if (failures.length > 0) return [failRun(someOf(failures).join('\n'))];
  const left = progress.filter((one) => !isComplete(one)).map(({ stage }) => nameOf(stage));
  if (left.length > 0) {
    return [failRun(`nothing can continue, and these stages are not done: ${someOf(left).join(', ')}`)];
  }
  const { said, missing } = lastWords(scene, options, progress);
  if (missing !== undefined) {
    const { task, why } = missing;
    return [{ do: 'settle-task', id: task, as: 'failed', why }, failRun(`${task}: ${why}`)];
  }
  const without = progress.filter(
    ({ stage, state, tasks }) =>
      (state === 'skipped' || stage.judges === undefined) && tasks.some((task) => task.state.status === 'failed'),
  );
  const lines = without.map(({ stage, state, tasks }) => {
    const isBlocked = tasks.every(({ state: { status, cause } }) => status !== 'failed' || cause === 'blocked');
    const how = isBlocked ? 'is blocked' : 'failed';
    const what = state === 'skipped' ? `${how}, and the run continued without it` : `${how} in part`;
    return `${nameOf(stage)} ${what}: ${whyOf(tasks, stage)}`;
  });
  return [{ do: 'finish', outcome: 'done', why: [said ?? 'all work is delivered', ...lines].join('\n') }];
}

interface LastWords {
  readonly said?: string;
  /** The task whose answer says that the work lacks something: only a person can say that the run is done all the same. */
  readonly missing?: { readonly task: string; readonly why: string };
}

/** The words of the last answer that has some for the end of the run. A plan has none. */
function lastWords(view: View, { forms }: Play, progress: readonly StageProgress[]): LastWords {
  for (const { stage, all } of progress.toReversed()) {
    const judged = judgesWhole(stage) ? roundsOf(view, stage.id).at(-1)?.summary : undefined;
    if (judged) return { said: judged };
    const last = all.findLast(({ state }) => state.status === 'done')?.state;
    const form = stage.judges === undefined ? forms[formNameOf(stage) ?? ''] : undefined;
    if (last?.answer === undefined || form?.read === undefined) continue;
    const reading = form.read(view, last.answer, last.id);
    if (reading.problems !== undefined || reading.entries !== undefined || reading.summary === undefined) continue;
    const { summary, verdict } = reading;
    if (verdict?.approved !== false || last.acceptedBy !== undefined) return { said: summary };
    const why = [`${verdict.summary}:`, ...verdict.findings.map(({ problem }) => problem)].join('\n');
    return { said: summary, missing: { task: last.id, why } };
  }
  return {};
}

/** More would hide the rest of what people read about the run; each task says its own. */
const MOST_NAMED = 100;

function someOf(lines: readonly string[]): readonly string[] {
  return atMost(lines, MOST_NAMED, (left) => `and ${left} more`);
}

function failedStages(list: StageList, progress: readonly StageProgress[]): string[] {
  return progress
    .filter(({ state }) => state === 'failed')
    .map(({ stage, tasks }) =>
      [`${nameOf(stage)}: ${whyOf(tasks, stage)}`, ...cascadeOf(list, progress, stage.id)].join('\n'),
    );
}

/** One line about all stages that never start because this one failed; none if there are none. A review is a stage too. */
export function cascadeOf(list: StageList, progress: readonly StageProgress[], id: string): string[] {
  const after = dependentsOf(list, id);
  const waiting = progress.filter(({ stage, state }) => state === 'waiting' && after.has(stage.id));
  const count = waiting.reduce((sum, { stage }) => sum + 1 + reviewsIn(stage).length, 0);
  return count === 0
    ? []
    : [cascadeText(count, waiting.every(({ stage }) => stage.shownAs !== undefined) ? 'task' : 'stage')];
}

function whyOf(tasks: StageProgress['tasks'], { id, shownAs }: Stage): string {
  const bad = tasks.filter(({ state: { status } }) => status === 'failed' || status === 'cancelled');
  // Its only task is known by the same name.
  if (shownAs !== undefined || bad.every(({ state }) => state.id === id))
    return bad.map(({ state: { why, status } }) => why ?? status).join('; ');
  return failureReasons(bad.map(({ state }) => state)).join('; ');
}

/** Work by mail that failed. An unanswered question is no failure: the asker's own work is judged. */
function failedOutside(scene: Scene): string[] {
  const failed = scene.tasks().filter(({ id, status }) => {
    const isBad = status === 'failed' || status === 'cancelled';
    return isBad && !isPlanned(scene, id) && orderOf(scene, id)?.answers !== true;
  });
  return failureReasons(failed);
}
