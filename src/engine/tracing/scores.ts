import type { FeedbackCreate } from 'langsmith/schemas';
import type { CriterionStatus } from '../../model/criterion-status.ts';
import type { ReviewCount } from '../../model/rejection.ts';
import type { RunEndedAs } from '../../model/run-state.ts';
import { uuidOf } from './langsmith.ts';
import { reasonOf, sendJson } from './sender.ts';
import { spanId, type Span } from './span.ts';
import type { TraceTarget } from './target.ts';

/** A number about a run, as LangSmith takes feedback. */
export interface Score {
  readonly key: 'squad_outcome' | 'squad_criteria' | 'squad_rounds' | 'squad_cost_usd';
  readonly score: number;
}

/** Parts of a `RunView` that scores follow from. */
export interface ScoredView {
  readonly end: { readonly outcome: RunEndedAs } | null;
  readonly plan: {
    readonly criteria: readonly Pick<CriterionStatus, 'state'>[];
    readonly reviews: readonly Pick<ReviewCount, 'rounds'>[];
  };
  readonly use: { readonly usage: { readonly costUsd: number | null; readonly unknownCostTurns: number } };
}

/**
 * 1 for a run that is done, the share of its criteria that are met, its rounds of review, and its cost where that of each turn is known.
 * None while it has not ended.
 */
export function scoresOf({ end, plan, use }: ScoredView): readonly Score[] {
  if (end === null) return [];
  const { criteria, reviews } = plan;
  const met = criteria.filter(({ state }) => state === 'met' || state === 'judged').length;
  const rounds = reviews.reduce((all, one) => all + one.rounds, 0);
  const cost = use.usage.unknownCostTurns === 0 ? use.usage.costUsd : null;
  return [
    { key: 'squad_outcome', score: end.outcome === 'done' ? 1 : 0 },
    ...(criteria.length === 0 ? [] : [{ key: 'squad_criteria', score: met / criteria.length } as const]),
    ...(rounds === 0 ? [] : [{ key: 'squad_rounds', score: rounds } as const]),
    ...(cost === null ? [] : [{ key: 'squad_cost_usd', score: cost } as const]),
  ];
}

/**
 * Sends scores of the trace with this root, each under an id that follows from both: sent again it replaces itself. Returns why one
 * could not be sent; undefined: all were.
 */
export async function sendScores(
  target: TraceTarget,
  { id }: Pick<Span, 'id'>,
  scores: readonly Score[],
  late?: AbortSignal,
): Promise<string | undefined> {
  const url = target.url.replace(/\/runs\/batch$/, '/feedback');
  const send = async ({ key, score }: Score): Promise<void> => {
    const feedback: Pick<FeedbackCreate, 'id' | 'run_id' | 'key' | 'score' | 'feedback_source'> = {
      ...{ id: uuidOf(spanId(id, 'score', key)), run_id: uuidOf(id), key, score },
      feedback_source: { type: 'api' },
    };
    await sendJson({ ...target, url }, JSON.stringify(feedback), late);
  };
  try {
    await Promise.all(scores.map(send));
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}
