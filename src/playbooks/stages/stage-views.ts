import type { StageView, View } from '../../model/plan.ts';
import type { Board } from '../../model/plan/board.ts';
import { defined } from '../../text/defined.ts';
import { asObject } from '../../text/json.ts';
import { nameOf, titleOf } from './list-facts.ts';
import { progressOf, type Placed, type StageProgress } from './stage-progress.ts';
import { optionsOf, type StagesOptions } from './stage-options.ts';
import type { Stage, StageList } from './stage-list.ts';
import { roundsOf, TASKS } from './stage-records.ts';

/** The stages of a run as people see them: a review follows the stage whose work it judges. */
export function stageViews(view: View): readonly StageView[] {
  const options = optionsOf(view);
  if (options === undefined) return [];
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

/** Rounds of judges follow from more than this. */
function isSame(before: StageProgress, { stage, state, pass, all }: StageProgress): boolean {
  if (stage.judges !== undefined || before.state !== state || before.pass.pass !== pass.pass) return false;
  return before.all.length === all.length && all.every((one, index) => one.state === before.all[index]?.state);
}

function rowsOf(view: View, options: StagesOptions, progress: StageProgress): readonly StageView[] {
  const { review } = progress.stage;
  if (review === undefined) return [plainView(view, progress)];
  const cap = review.rounds ?? options.reviewRounds;
  return [workView(progress), reviewView(progress, review, cap)];
}

function plainView(view: View, progress: StageProgress): StageView {
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
  const rejected = roundsOf(view, stage.id).filter(({ approved }) => !approved);
  const isOpen = tasks.length > 0 && !rejected.some((round) => round.pass === pass.pass);
  return { taken: rejected.length + (isOpen ? 1 : 0), cap: stage.judges.rounds };
}

/** The authors' part of a stage with a review: over while all of its tasks are with their reviewers. */
function workView(progress: StageProgress): StageView {
  const { stage, tasks, all, state } = progress;
  const at = tasks.filter((one) => isAtWork(one));
  const rejected = tasks.some((one) => isRejected(one));
  const own = state === 'live' && at.length === 0 ? 'done' : state === 'failed' && rejected ? 'done' : state;
  const by = agentsOf(own === 'live' ? at : all);
  const times = timesOf({ ...progress, state: own }, (task) => ({ from: task.at.started, until: workedUntil(task) }));
  return rowOf({ all, state: own }, { id: nameOf(stage), title: titleOf(stage), by }, times);
}

/** Its rounds are the most that any of its work took. */
function reviewView(progress: StageProgress, review: NonNullable<Stage['review']>, cap: number): StageView {
  const { tasks, all } = progress;
  const inReview = tasks.filter(({ state: { status } }) => status === 'reviewing');
  const state = reviewState(progress);
  const taken = all.map(({ state: { rounds, status } }) => rounds.length + (status === 'reviewing' ? 1 : 0));
  const by = [...new Set((inReview.length > 0 ? inReview : all).flatMap((one) => one.state.reviewers))];
  const about = { id: review.id, title: titleOf(review), by, round: { taken: Math.max(0, ...taken), cap } };
  const judged = current(progress).filter((one) => one.state.at.judged !== undefined);
  const times = timesOf({ tasks: judged, all: judged, state }, ({ at: { ended } }) => ({ until: ended }));
  // It begins when the last work that it judges has ended.
  const starts = judged.flatMap((one) => one.state.at.judged ?? []);
  return rowOf({ all, state }, about, { ...times, ...(starts.length === 0 ? {} : { startedAt: Math.max(...starts) }) });
}

function reviewState({ tasks, all, state }: StageProgress): StageView['state'] {
  const wasJudged = all.some((one) => one.state.at.judged !== undefined);
  if (state === 'done' || state === 'skipped') return wasJudged ? state : 'skipped';
  if (state === 'failed') return tasks.some((one) => isRejected(one)) ? 'failed' : 'waiting';
  const open = tasks.some(({ state: { status } }) => status === 'reviewing' || status === 'integrating');
  return open ? 'live' : 'waiting';
}

function isAtWork({ state: { status } }: Placed): boolean {
  return status === 'live' || status === 'ready' || status === 'waiting';
}

function isRejected({ state: { status, cause } }: Placed): boolean {
  return status === 'failed' && cause === 'rejected';
}

function agentsOf(tasks: readonly Placed[]): string[] {
  return [...new Set(tasks.flatMap(({ state: { doneBy, agent } }) => doneBy ?? agent ?? []))];
}

/** When the work on a task ended: with its newest review, unless it ended without one. */
function workedUntil({ at: { judged, ended }, status, cause }: Placed['state']): number | undefined {
  const wentToReview = status !== 'failed' && status !== 'cancelled' ? true : cause === 'rejected';
  return wentToReview ? (judged ?? ended) : (ended ?? judged);
}

interface Times {
  readonly startedAt?: number;
  readonly endedAt?: number;
}

/** Of the current pass, so that stages that follow each other never take more time than the run. */
function timesOf(
  progress: Pick<StageProgress, 'tasks' | 'all' | 'state'>,
  spanOf: (task: Placed['state']) => { readonly from?: number | undefined; readonly until: number | undefined },
): Times {
  const spans = current(progress).map((one) => spanOf(one.state));
  const starts = spans.flatMap(({ from }) => from ?? []);
  const isOver = progress.state !== 'waiting' && progress.state !== 'live';
  const ends = isOver ? spans.flatMap(({ until }) => until ?? []) : [];
  return defined({
    startedAt: starts.length === 0 ? undefined : Math.min(...starts),
    endedAt: ends.length === 0 ? undefined : Math.max(...ends),
  });
}

/** The tasks of the current pass, or of the one before while it has none. */
function current({ tasks, all }: Pick<StageProgress, 'tasks' | 'all'>): readonly Placed[] {
  return tasks.length === 0 ? all : tasks;
}

function rowOf(
  { all, state }: Pick<StageProgress, 'all' | 'state'>,
  about: Pick<StageView, 'id' | 'title' | 'by' | 'round'>,
  times: Times,
): StageView {
  return { ...about, state, tasks: idsOf(all), ...times };
}

function idsOf(tasks: readonly Placed[]): string[] {
  return tasks.map(({ state: { id } }) => id);
}

/** Tasks that the plan does not have yet, where it is known how many will come: with one for each stage. */
export function tasksToCome({ facts, records }: Pick<Board, 'facts' | 'records'>): number {
  const single = (optionsOf(facts)?.list.stages ?? []).filter(
    ({ shownAs, isDone }) => shownAs !== undefined && !isDone,
  );
  if (single.length === 0) return 0;
  const begun = new Set([...(records.get(TASKS)?.values() ?? [])].map((value) => asObject(value)['stage']));
  return single.filter(({ id }) => !begun.has(id)).length;
}
