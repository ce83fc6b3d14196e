import { reviewsOf, type NewTask, type ReviewPolicy } from './task.ts';
import { protectedCriteria, type CheckerChange } from './checker.ts';
import type { RoundRecord } from './round-record.ts';
import type { Work } from './work.ts';

/** The review of a task that is open, or would open first. undefined: it is not reviewed. */
export function openReviewOf(
  { phase }: Pick<Work, 'phase'>,
  task: Pick<NewTask, 'review' | 'laterReviews'>,
): ReviewPolicy | undefined {
  return reviewsOf(task)[phase.at === 'reviewing' ? (phase.review ?? 0) : 0];
}

/** Those of which a rejection names one; empty: it names none. */
export function categoriesOf(review: ReviewPolicy | undefined): string[] {
  return Object.keys(review?.reopens ?? {});
}

/** Criteria that the work must meet: C1, C2 … of its reviewers' prompts. */
export function criteriaOf(review: ReviewPolicy | undefined, checkers: readonly CheckerChange[] = []): string[] {
  return [...(review?.criteria ?? []), ...protectedCriteria(checkers).map(({ text }) => text)];
}

/** The rounds of one review among those of its task. */
export function roundsOf(
  rounds: readonly RoundRecord[],
  { id }: Partial<Pick<ReviewPolicy, 'id'>> = {},
): readonly RoundRecord[] {
  return id === undefined ? rounds : rounds.filter(({ review }) => review === id);
}

/** The review that a round belongs to. */
export function reviewOfRound(
  task: Pick<NewTask, 'review' | 'laterReviews'>,
  { review: id }: Pick<RoundRecord, 'review'>,
): ReviewPolicy | undefined {
  return id === undefined ? task.review : reviewsOf(task).find((one) => one.id === id);
}
