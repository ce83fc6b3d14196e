import type { FeedbackCreate } from 'langsmith/schemas';
import type { CriterionStatus } from '../../model/criterion-status.ts';
import { uuidOf } from './langsmith.ts';
import { postJson, reasonOf } from './sender.ts';
import { spanId, type Span } from './span.ts';
import type { TraceTarget } from './target.ts';

/** A number about a run, as LangSmith takes feedback. From 0 to 1. */
export interface Score {
  readonly key: 'squad_outcome' | 'squad_criteria';
  readonly score: number;
}

/** How a run ended, and the share of its criteria that are met. None while it has not ended. */
export function scoresOf(
  outcome: string | undefined,
  criteria: readonly Pick<CriterionStatus, 'state'>[],
): readonly Score[] {
  if (outcome === undefined) return [];
  const met = criteria.filter(({ state }) => state === 'met' || state === 'judged').length;
  return [
    { key: 'squad_outcome', score: outcome === 'done' ? 1 : 0 },
    ...(criteria.length === 0 ? [] : [{ key: 'squad_criteria', score: met / criteria.length } as const]),
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
): Promise<string | undefined> {
  const url = target.url.replace(/\/runs\/batch$/, '/feedback');
  try {
    for (const { key, score } of scores) {
      const feedback: Pick<FeedbackCreate, 'id' | 'run_id' | 'key' | 'score' | 'feedback_source'> = {
        ...{ id: uuidOf(spanId(id, 'score', key)), run_id: uuidOf(id), key, score },
        feedback_source: { type: 'api' },
      };
      await postJson({ ...target, url }, JSON.stringify(feedback));
    }
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}
