import type { CriterionStatus } from '../model/criterion-status.ts';
import type { Span } from './span.ts';
import { spanId } from './span.ts';
import { uuidOf } from './langsmith.ts';
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

const ANSWER_MS = 5000;

/**
 * Sends scores of the trace with this root, by LangSmith's own client, each under an id that follows from both: sent again it
 * replaces itself. Returns why one could not be sent; undefined: all were.
 */
export async function sendScores(
  { url, headers }: TraceTarget,
  root: Pick<Span, 'id' | 'startedAt'>,
  scores: readonly Score[],
): Promise<string | undefined> {
  const { Client } = await import('langsmith');
  const client = new Client({
    apiUrl: url.replace(/\/runs\/batch$/, ''),
    ...{ apiKey: headers['x-api-key'] ?? '', autoBatchTracing: false, tracingSamplingRate: 1 },
    ...{ timeout_ms: ANSWER_MS, callerOptions: { maxRetries: 1 } },
    fetchOptions: { headers: { ...headers }, redirect: 'error' },
  });
  try {
    for (const { key, score } of scores) {
      const feedbackId = uuidOf(spanId(root.id, 'score', key));
      await client.createFeedback(uuidOf(root.id), key, { score, feedbackId, feedbackSourceType: 'api' });
    }
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
