import type { PlanChange } from '../../model/plan/change.ts';
import type { PlaybookEvent } from '../../model/plan/event.ts';
import type { PlannedEntry } from '../../model/plan.ts';
import { entriesOf, reviewsIn, stageOf, wayBetween } from './list-facts.ts';
import { hasPlaceholder } from './stage-brief.ts';
import type { Stage, StageReview } from './stage-list.ts';
import type { Play, StagesOptions } from './stage-options.ts';
import type { Placed, Scene, StageProgress } from './stage-progress.ts';
import { addedEntryOf, plannedIn, type StageTask } from './stage-records.ts';
import { briefNow } from './stage-tasks.ts';

type Failed = Extract<PlaybookEvent, { type: 'task-failed' }>;

/**
 * Reopens the stage that the review names for this category, the stages between, and the task itself, which then starts from their new
 * answers. Empty: the review names no stage for it.
 */
export function reopenedBy(
  { list }: StagesOptions,
  progress: readonly StageProgress[],
  { task, category = '', feedback }: Failed,
): PlanChange[] {
  const of = progress.find(({ tasks }) => tasks.some(({ state }) => state.id === task));
  const own = of?.tasks.find(({ state }) => state.id === task);
  if (of === undefined || own === undefined) return [];
  const review = rejectingReview(of.stage, own);
  const to = review?.reopens?.[category];
  if (review === undefined || to === undefined || typeof to === 'string') return [];
  const why = feedback.at(-1) ?? '';
  const before = [to.stage, ...wayBetween(list, to.stage, of.stage.id).map(({ id }) => id)];
  const again = before.flatMap((id) => (id === of.stage.id ? [] : (taskOf(progress, id, own) ?? [])));
  const said = `${review.id} rejected ${task} for its ${category}:\n${why}`;
  // A stage whose brief has another answer then would not see it in the session that it has.
  const sessionOf = ({ stage }: Placed): 'new' | 'same' => {
    const quotes = stageOf(list, stage);
    return quotes !== undefined && before.some((id) => hasPlaceholder(quotes, `of:${id}`)) ? 'new' : 'same';
  };
  return [
    ...again.map((one): PlanChange => {
      return { do: 'reopen-task', id: one.state.id, feedback: said, session: sessionOf(one) };
    }),
    { do: 'reopen-task', id: task, feedback: why, session: 'new' },
  ];
}

function rejectingReview(stage: Stage, { state }: Placed): StageReview | undefined {
  const last = state.rounds.at(-1)?.review;
  const reviews = reviewsIn(stage);
  return last === undefined ? reviews[0] : reviews.find(({ id }) => id === last);
}

/** The task of a stage, of the same entry where the stage has one for each. */
function taskOf(progress: readonly StageProgress[], stage: string, { entry }: Placed): Placed | undefined {
  const tasks = progress.find((one) => one.stage.id === stage)?.tasks ?? [];
  return tasks.findLast((one) => one.as === 'work' && (one.entry === undefined || one.entry === entry));
}

/** Briefs of tasks that have not begun again and quote the answer of this stage, which is another one now. */
export function briefsAfter(
  scene: Scene,
  options: Play,
  progress: readonly StageProgress[],
  answered: Pick<StageTask, 'stage' | 'entry'>,
): PlanChange[] {
  return progress.flatMap((of) => {
    if (!hasPlaceholder(of.stage, `of:${answered.stage}`)) return [];
    const opening = { scene, options, progress, of, also: [], taken: new Set<string>() };
    return of.tasks.flatMap(({ as, role, entry, added, state }): PlanChange[] => {
      // The words of who added it.
      if (added === true && state.id === entry) return [];
      if (entry !== undefined && answered.entry !== undefined && entry !== answered.entry) return [];
      if (as !== 'work' || role !== undefined || (state.status !== 'waiting' && state.status !== 'ready')) return [];
      const brief = briefNow(opening, entryOf(scene, options, of.stage, entry));
      return brief.text === state.brief.text ? [] : [{ do: 'edit-task', id: state.id, brief }];
    });
  });
}

function entryOf(
  scene: Scene,
  { list }: StagesOptions,
  stage: Stage,
  id: string | undefined,
): PlannedEntry | undefined {
  const from = entriesOf(list, stage);
  if (from === undefined || id === undefined) return undefined;
  return addedEntryOf(scene, id) ?? plannedIn(scene, from)?.find((entry) => entry.id === id);
}
