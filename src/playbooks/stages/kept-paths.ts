import { addressOf } from '../../model/mail/address.ts';
import { mayWriteTo } from '../../model/mail/route.ts';
import { MAIN } from '../../model/mail/vocabulary.ts';
import type { PlannedEntry } from '../../model/plan.ts';
import { limitOf, type NewTask } from '../../model/plan/task.ts';
import { renderPrompt } from '../../prompts/render.ts';
import { entriesOf } from './list-facts.ts';
import type { Opening } from './opening.ts';
import { stageTask } from './stage-records.ts';
import type { Scene, StageProgress } from './stage-progress.ts';

/** The agent whose answer gave the tasks of the plan `from`; undefined: none yet. */
export function plannerOf(progress: readonly StageProgress[], from: string): string | undefined {
  const plan = progress.find(({ stage }) => stage.id === from);
  return plan?.tasks.findLast(({ as, state }) => as === 'work' && state.status === 'done')?.state.doneBy;
}

/** Limits the task to the paths of its entry, if it has any, and to those that an earlier pass was granted. `.` is no limit. */
export function keptTo(
  { scene, progress, of }: Opening,
  { entry, role, from }: { readonly entry: PlannedEntry; readonly role: string; readonly from: string },
  made: Partial<NewTask>,
): Partial<NewTask> {
  if (entry.paths === undefined) return made;
  const added = of.all.flatMap((one) => (one.entry === entry.id ? (limitOf(one.state.requires)?.paths ?? []) : []));
  const paths = [...new Set([...entry.paths, ...added])];
  if (!('code' in of.stage.makes) || paths.length === 0 || paths.includes('.')) return made;
  const instead = howToAsk(scene, plannerOf(progress, from), role);
  return { ...made, requires: [...(made.requires ?? []), { kind: 'only', paths, instead }] };
}

type Staff = Pick<Scene, 'roster' | 'routes' | 'prompts'>;

function howToAsk(scene: Staff, planner: string | undefined, role: string): string {
  return renderPrompt('author/paths', { ask: whomToAsk(scene, planner, role) ?? '' }, scene.prompts);
}

/** Who can add paths, as far as each agent of the role may write to them. No agent adds to its own paths. */
function whomToAsk({ roster, routes }: Staff, planner: string | undefined, role: string): string | undefined {
  const by = roster.find(({ name }) => name === planner);
  const authors = roster.filter((member) => member.role === role);
  const main = authors.some((author) => addressOf(author) === MAIN) ? undefined : `\`${MAIN}\``;
  const asking = authors.filter(({ name }) => name !== planner);
  if (by === undefined || !asking.every((author) => mayWriteTo(routes, author, by))) return main;
  const address = `\`${addressOf(by)}\``;
  if (asking.length === authors.length || address === main) return address;
  return main && (asking.length === 0 ? main : `${address}, or ${main} if that is you,`);
}

/** The plan that a task of the board comes from; undefined: no plan gave it paths. */
export function planOf(scene: Pick<Scene, 'record' | 'records'>, progress: readonly StageProgress[], task: string) {
  const place = stageTask(scene, task);
  if (place?.entry === undefined) return undefined;
  const of = progress.find(({ stage }) => stage.id === place.stage)?.stage;
  return of === undefined ? undefined : entriesOf({ stages: progress.map(({ stage }) => stage) }, of);
}
