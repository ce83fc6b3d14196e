import type { StageView, View } from '../../model/plan.ts';
import type { Board } from '../../model/plan/board.ts';
import { defined } from '../../text/defined.ts';
import { asObject } from '../../text/json.ts';
import { nameOf, reviewsIn, titleOf } from './list-facts.ts';
import { reviewView } from './review-views.ts';
import { isRejected, rowOf, timesOf } from './stage-rows.ts';
import { progressOf, type Placed, type StageProgress } from './stage-progress.ts';
import { optionsOf, type StagesOptions } from './stage-options.ts';
import type { StageList } from './stage-list.ts';
import { roundsOf, TASKS } from './stage-records.ts';

/** The stages of a run as people see them: a review follows the stage whose work it judges. */
export function stageViews(view: View): readonly StageView[] {
  const options = optionsOf(view);
  if (options === undefined || options.list.shows === 'tasks') return [];
  const progress = progressOf(view, options.list);
  const last = LAST.get(options.list);
  const rows = progress.map((one, index) => {
    const before = last?.progress[index];
    const known = last?.rows[index];
    return before !== undefined && known !== undefined && isSame(before, one) ? known : rowsOf(view, options, one);
  });
  LAST.set(options.list, { progress, rows });
  return rows.flat();
}

/** The last rows of a list, with what they follow from: most stages of a long list stay as they are from one event to the next. */
const LAST = new WeakMap<
  StageList,
  { readonly progress: readonly StageProgress[]; readonly rows: readonly (readonly StageView[])[] }
>();

/** Whether these options are of a list whose stages are shown. */
export function hasStages(options: View['options']): boolean {
  const found = optionsOf({ options });
  return found !== undefined && found.list.shows !== 'tasks';
}

/** Rounds of judges follow from more than this. */
function isSame(before: StageProgress, { stage, state, pass, all }: StageProgress): boolean {
  if (stage.judges !== undefined || before.state !== state || before.pass.pass !== pass.pass) return false;
  return before.all.length === all.length && all.every((one, index) => one.state === before.all[index]?.state);
}

function rowsOf(view: View, options: StagesOptions, progress: StageProgress): readonly StageView[] {
  const reviews = reviewsIn(progress.stage);
  if (reviews.length === 0) return [plainView(view, progress)];
  return [
    workView(progress),
    ...reviews.map((review, place) => {
      const cap = review.rounds ?? options.reviewRounds;
      const [of, after] = reviews.length === 1 ? [] : [review.id, reviews[place - 1]?.id];
      return reviewView(progress, { review, cap, isLast: place === reviews.length - 1, ...defined({ of, after }) });
    }),
  ];
}

/** A live stage shows as waiting while all its open tasks wait for other stages. */
function shownOf({ state, tasks }: StageProgress): StageView['state'] {
  const open = tasks.filter(({ state: { at } }) => at.ended === undefined);
  return state === 'live' && open.length > 0 && open.every((one) => one.state.status === 'waiting') ? 'waiting' : state;
}

function plainView(view: View, before: StageProgress): StageView {
  const progress = { ...before, state: shownOf(before) };
  const { stage, tasks, all, state } = progress;
  const at = tasks.filter((one) => isAtWork(one));
  const by = agentsOf(state === 'live' && at.length > 0 ? at : all);
  const about = { id: nameOf(stage), title: titleOf(stage), by, ...defined({ round: roundOf(view, progress) }) };
  return rowOf(
    progress,
    about,
    timesOf(progress, ({ at: { started, ended } }) => ({ from: started, until: ended })),
  );
}

/** A rejection of the engine, whose checks failed before anybody judged, is a round too. */
function roundOf(view: View, { stage, pass, tasks }: StageProgress): StageView['round'] {
  if (stage.judges === undefined) return undefined;
  const cap = stage.judges.rounds;
  if (stage.each !== undefined) return { taken: Math.max(0, ...tasks.map(({ state }) => state.round)), cap };
  const rejected = roundsOf(view, stage.id).filter(({ approved }) => !approved);
  const isOpen = tasks.length > 0 && !rejected.some((round) => round.pass === pass.pass);
  return { taken: rejected.length + (isOpen ? 1 : 0), cap };
}

/** The authors' part of a stage with a review: over while all of its tasks are with their reviewers. */
function workView(before: StageProgress): StageView {
  const progress = { ...before, state: shownOf(before) };
  const { stage, tasks, all, state } = progress;
  const at = tasks.filter((one) => isAtWork(one));
  const rejected = tasks.some((one) => isRejected(one));
  const own = state === 'live' && at.length === 0 ? 'done' : state === 'failed' && rejected ? 'done' : state;
  const by = agentsOf(own === 'live' ? at : all);
  const times = timesOf({ ...progress, state: own }, (task) => ({ from: task.at.started, until: workedUntil(task) }));
  return rowOf({ all, state: own }, { id: nameOf(stage), title: titleOf(stage), by }, times);
}

function isAtWork({ state: { status } }: Placed): boolean {
  return status === 'live' || status === 'ready' || status === 'waiting';
}

function agentsOf(tasks: readonly Placed[]): string[] {
  return [...new Set(tasks.flatMap(({ state: { doneBy, agent } }) => doneBy ?? agent ?? []))];
}

/** When the work on a task ended: with its newest review, unless it ended without one. */
function workedUntil(state: Placed['state']): number | undefined {
  const { judged, ended } = state.at;
  const isBad = state.status === 'failed' || state.status === 'cancelled';
  const wentToReview = !isBad || isRejected({ state });
  return wentToReview ? (judged ?? ended) : (ended ?? judged);
}

/** Tasks that the plan does not have yet, where it is known how many will come: with one for each stage. */
export function tasksToCome({
  facts,
  records,
}: Pick<Board, 'records'> & { readonly facts: Pick<Board['facts'], 'options'> }): number {
  const single = (optionsOf(facts)?.list.stages ?? []).filter(
    ({ shownAs, isDone }) => shownAs !== undefined && !isDone,
  );
  if (single.length === 0) return 0;
  const begun = new Set([...(records.get(TASKS)?.values() ?? [])].map((value) => asObject(value)['stage']));
  return single.filter(({ id }) => !begun.has(id)).length;
}
