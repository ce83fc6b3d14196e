import { roundsOf } from '../../model/plan/open-review.ts';
import type { StageView } from '../../model/plan.ts';
import type { RoundRecord } from '../../model/plan/round-record.ts';
import { defined } from '../../text/defined.ts';
import { titleOf } from './list-facts.ts';
import type { StageReview } from './stage-list.ts';
import type { Placed, StageProgress } from './stage-progress.ts';
import { current, isRejected, rowOf, timesOf } from './stage-rows.ts';

/** A review of a stage. */
interface Reviewing {
  readonly review: StageReview;
  readonly cap: number;
  readonly isLast: boolean;
  /** Its id among several. Absent: it is the only one. */
  readonly of?: string;
  /** The one before it. Absent: it is the first. */
  readonly after?: string;
}

/** Its rounds are the most that any of its work took. */
export function reviewView(progress: StageProgress, about: Reviewing): StageView {
  const { tasks, all } = progress;
  const { review, cap, of, after } = about;
  const inReview = tasks.filter((one) => isOpen(one, about));
  const state = stateOf(progress, about);
  const taken = all.map((one) => ownRounds(one, about).length + (isOpen(one, about) ? 1 : 0));
  const by = [...new Set((inReview.length > 0 ? inReview : all).flatMap((one) => reviewersOf(one, about)))];
  const row = { id: review.id, title: titleOf(review), by, round: { taken: Math.max(0, ...taken), cap } };
  const judged = current(progress).filter((one) => hasBegun(one, about));
  const ends = timesOf({ tasks: judged, all: judged, state }, ({ at: { ended }, rounds }) => {
    return { until: of === undefined ? ended : roundsOf(rounds, { id: of }).at(-1)?.at };
  });
  // It begins when the last work that it judges has ended.
  const starts = judged.flatMap(({ state: { at, rounds } }) => {
    return (after === undefined ? at.judged : roundsOf(rounds, { id: after }).at(-1)?.at) ?? [];
  });
  const startedAt = starts.length === 0 ? undefined : Math.max(...starts);
  return rowOf({ all, state }, row, { ...ends, ...defined({ startedAt }) });
}

function stateOf({ tasks, all, state }: StageProgress, about: Reviewing): StageView['state'] {
  if (state === 'done' || state === 'skipped') return all.some((one) => hasBegun(one, about)) ? state : 'skipped';
  const approved = about.isLast ? false : tasks.length > 0 && tasks.every((one) => isApproved(one, about));
  if (state === 'failed') {
    if (tasks.some((one) => isRejected(one) && isLastRound(one, about))) return 'failed';
    return approved ? 'done' : 'waiting';
  }
  const integrates = about.isLast && tasks.some(({ state: { status } }) => status === 'integrating');
  if (integrates || tasks.some((one) => isOpen(one, about))) return 'live';
  return approved ? 'done' : 'waiting';
}

function isOpen({ state: { status, openReview } }: Placed, { of }: Reviewing): boolean {
  return status === 'reviewing' && (of === undefined || openReview === of);
}

function hasBegun(one: Placed, about: Reviewing): boolean {
  if (about.after === undefined) return one.state.at.judged !== undefined;
  return isOpen(one, about) || ownRounds(one, about).length > 0;
}

/** Whether it approved what is with a later review now, or has ended. */
function isApproved(one: Placed, about: Reviewing): boolean {
  const { status, commit } = one.state;
  const last = ownRounds(one, about).at(-1);
  const isThere = status === 'reviewing' || status === 'integrating' || one.state.at.ended !== undefined;
  return isThere && !isOpen(one, about) && last !== undefined && last.commit === commit && !isRejection(last);
}

function isRejection({ approved, overruled }: RoundRecord): boolean {
  return !approved && overruled !== true;
}

function isLastRound({ state: { rounds } }: Placed, { of }: Reviewing): boolean {
  return of === undefined || rounds.at(-1)?.review === of;
}

function ownRounds({ state: { rounds } }: Placed, { of }: Reviewing): readonly RoundRecord[] {
  return roundsOf(rounds, { id: of });
}

function reviewersOf(one: Placed, about: Reviewing): readonly string[] {
  if (about.of === undefined || isOpen(one, about)) return one.state.reviewers;
  return (
    ownRounds(one, about)
      .at(-1)
      ?.by.map(({ agent }) => agent) ?? []
  );
}
