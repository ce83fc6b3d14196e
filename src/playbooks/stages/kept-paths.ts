import { addressOf } from '../../model/mail/address.ts';
import { MAIN } from '../../model/mail/vocabulary.ts';
import { limitOf, type NewTask } from '../../model/plan/task.ts';
import type { Entry } from './answers.ts';
import type { Opening } from './opening.ts';
import { stageTask } from './stage-records.ts';
import type { Scene, StageProgress } from './stage-progress.ts';

/** The agent whose answer gave the tasks of the plan `from`; undefined: none yet. */
export function plannerOf(progress: readonly StageProgress[], from: string): string | undefined {
  const plan = progress.find(({ stage }) => stage.id === from);
  return plan?.tasks.findLast(({ as, state }) => as === 'work' && state.status === 'done')?.state.doneBy;
}

/** The same delivery, kept to the paths of its entry and to those that an earlier pass was given. */
export function keptTo(
  { scene, progress, of }: Opening,
  { entry, role, from }: { readonly entry: Entry; readonly role: string; readonly from: string },
  made: Partial<NewTask>,
): Partial<NewTask> {
  const added = of.all.flatMap((one) => (one.entry === entry.id ? (limitOf(one.state.requires)?.paths ?? []) : []));
  const paths = [...new Set([...entry.paths, ...added])];
  if (made.integrate !== true || paths.includes('.')) return made;
  const instead = howToAsk(scene, plannerOf(progress, from), role);
  return { ...made, requires: [...(made.requires ?? []), { kind: 'only', paths, instead }] };
}

function howToAsk({ roster }: Pick<Scene, 'roster'>, planner: string | undefined, role: string): string {
  const member = roster.find(({ name }) => name === planner);
  const address = member === undefined ? MAIN : addressOf(member);
  const whom = member?.role === role ? `\`${address}\`, or \`${MAIN}\` if that is you,` : `\`${address}\``;
  return [
    'Other agents work on the rest at the same time.',
    `If another path has to change, ask ${whom} for it before you change it: with the tool \`ask\` and the action \`clarify\`, name the path`,
    'and why, and end your turn. squad tells you what the answer adds to your paths.',
  ].join(' ');
}

/** The plan that a task of the board comes from; undefined: no plan gave it paths. */
export function planOf(scene: Pick<Scene, 'record' | 'records'>, progress: readonly StageProgress[], task: string) {
  const place = stageTask(scene, task);
  if (place?.entry === undefined) return undefined;
  return progress.find(({ stage }) => stage.id === place.stage)?.stage.each?.of;
}
