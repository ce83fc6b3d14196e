import type { PlanChange } from '../../model/plan/change.ts';
import type { View } from '../../model/plan.ts';
import { formNameOf } from './answers.ts';
import { takenBack } from './judging.ts';
import { judgedBy, judgesWhole, targetOf, wayBetween } from './list-facts.ts';
import { findingLines } from './stage-brief.ts';
import type { Play } from './stage-options.ts';
import type { Placed, StageProgress } from './stage-progress.ts';
import { putRound } from './stage-records.ts';
import { roundFrom, verdictOf } from './verdicts.ts';

/** Changes for verdicts on entries that have had no effect yet: a rejection opens the entry's tasks again, and the last one fails it. */
export function decideEntries(scene: View, options: Play, progress: readonly StageProgress[]): PlanChange[] {
  return progress.flatMap((judge) => {
    if (judge.stage.judges === undefined || judgesWhole(judge.stage)) return [];
    const entries = Map.groupBy(judge.tasks, ({ entry = '' }) => entry);
    return [...entries].flatMap(([entry, tasks]) =>
      tasks.every(({ state: { status } }) => status === 'done')
        ? decideEntry(scene, options, progress, { judge, entry, tasks })
        : [],
    );
  });
}

interface Judged {
  readonly judge: StageProgress;
  readonly entry: string;
  /** The tasks of its judges. */
  readonly tasks: readonly Placed[];
}

function decideEntry(
  scene: View,
  { list, forms }: Play,
  progress: readonly StageProgress[],
  { judge, entry, tasks }: Judged,
): PlanChange[] {
  const { stage } = judge;
  const made = tasksIn(
    progress,
    judgedBy(list, stage).map(({ id }) => id),
    entry,
  );
  const own = tasks.find(
    ({ state: { doneBy } }) => doneBy !== undefined && made.some(({ state }) => state.doneBy === doneBy),
  );
  if (own !== undefined) return [takenBack(own)];
  const form = forms[formNameOf(stage) ?? ''];
  const verdicts = tasks.map((task) => verdictOf(scene, form, task).verdict);
  if (verdicts.every(({ approved }) => approved)) return [];
  const round = roundFrom(scene, judge, verdicts, false, entry);
  const cap = stage.judges?.rounds ?? 1;
  const summaries = verdicts.flatMap(({ approved, summary }) => (approved ? [] : [summary]));
  const findings = round.findings.filter(({ problem }) => !summaries.includes(problem));
  const lines = [...summaries, ...findingLines(findings).map((line) => `- ${line}`)];
  const feedback = lines.filter((line) => line !== '').join('\n');
  if (round.round >= cap || (!round.converging && list.whenNotConverging === 'stop')) {
    const note = round.converging ? '' : '; not converging: the same findings as in the round before';
    const why = `${entry} was rejected in round ${round.round} of ${cap}${note}\n${feedback}`;
    const rejecting = tasks.filter((_, index) => verdicts[index]?.approved === false);
    return rejecting.map(({ state: { id } }) => ({ do: 'settle-task', id, as: 'failed', why }));
  }
  const target = targetOf(stage) ?? '';
  const again = tasksIn(progress, [target, ...wayBetween(list, target, stage.id).map(({ id }) => id)], entry);
  return [
    putRound(round),
    ...again.map(({ state: { id } }): PlanChange => ({ do: 'reopen-task', id, feedback, session: 'same' })),
  ];
}

/** The tasks that the entry has in these stages, in the order of the list. */
function tasksIn(progress: readonly StageProgress[], stages: readonly string[], entry: string): Placed[] {
  return progress.flatMap(({ stage, tasks }) =>
    stages.includes(stage.id) ? tasks.filter((task) => task.entry === entry) : [],
  );
}
