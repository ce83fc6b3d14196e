import { failedReviewsOf, failureFileOf } from '../graph/decisions/failed-reviews.ts';
import type { Board } from '../model/plan/board.ts';
import type { Rejection } from '../model/rejection.ts';
import { shortText } from '../text/plain-text.ts';

const MOST_TEXT = 1_000;
const MOST_ROUNDS = 20;

/** What people see of the reviews that rejected work for the last time. */
export function rejectionsOf(board: Board, runId: string): Rejection[] {
  return failedReviewsOf(board).map(({ stage, task, cap, rounds }) => ({
    ...{ stage, task, cap },
    rounds: rounds.slice(-MOST_ROUNDS).map(({ round, approved, text, repeated }) => ({
      ...{ round, approved, repeated },
      text: shortText(text, MOST_TEXT),
    })),
    file: `.squad/runs/${runId}/${failureFileOf(stage)}`,
  }));
}
