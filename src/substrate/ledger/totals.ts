import type { Usage } from '../../model/usage.ts';
import type { Totals } from '../ports/ledger.ts';
import type { Store } from './store.ts';

/** `total` adds as floating point: `sum` throws on an overflow, and a runtime may report any number. */
const TOTALS = `
SELECT count(*) AS turnsClaimed,
  count(settlement.attempt_id) AS turnsSettled,
  count(*) FILTER (WHERE settlement.failure = 'lost') AS turnsLost,
  count(*) FILTER (WHERE settlement.attempt_id IS NULL) AS turnsLive,
  total(usage.input_tokens) AS inputTokens,
  total(usage.cached_input_tokens) AS cachedInputTokens,
  total(usage.output_tokens) AS outputTokens,
  total(usage.cost_usd) AS costUsd,
  count(*) FILTER (WHERE settlement.attempt_id IS NOT NULL AND usage.input_tokens IS NULL) AS unknownUsage,
  count(*) FILTER (WHERE settlement.attempt_id IS NOT NULL AND usage.cost_usd IS NULL) AS unknownCost
FROM attempt
LEFT JOIN settlement ON settlement.attempt_id = attempt.id
LEFT JOIN usage ON usage.attempt_id = attempt.id
WHERE attempt.run_id = ? AND attempt.kind = 'turn'`;

/** Of a run without turns: all zero. */
export function readTotals(store: Store, runId: string): Totals {
  return store.db.prepare<[string], Totals>(TOTALS).get(runId) ?? NO_TOTALS;
}

export const NO_TOTALS: Totals = {
  turnsClaimed: 0,
  turnsSettled: 0,
  turnsLost: 0,
  turnsLive: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  costUsd: 0,
  unknownUsage: 0,
  unknownCost: 0,
};

interface StoredUsage {
  input_tokens: number | null;
  cached_input_tokens: number | null;
  output_tokens: number | null;
  reasoning_tokens: number | null;
  cost_usd: number | null;
}

/** Within the transaction of the settlement. Unknown use is a row of NULLs. */
export function insertUsage(store: Store, attemptId: string, usage: Usage | undefined): void {
  store.db
    .prepare(
      'INSERT INTO usage (attempt_id, input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, cost_usd) VALUES (?, ?, ?, ?, ?, ?)',
    )
    .run(
      attemptId,
      usage?.inputTokens ?? null,
      usage?.cachedInputTokens ?? null,
      usage?.outputTokens ?? null,
      usage?.reasoningTokens ?? null,
      usage?.costUsd ?? null,
    );
}

export function readUsage(store: Store, attemptId: string): Usage | undefined {
  const row = store.db.prepare<[string], StoredUsage>('SELECT * FROM usage WHERE attempt_id = ?').get(attemptId);
  if (row === undefined || row.input_tokens === null) return undefined;
  return {
    inputTokens: row.input_tokens,
    cachedInputTokens: row.cached_input_tokens ?? 0,
    outputTokens: row.output_tokens ?? 0,
    ...(row.reasoning_tokens === null ? {} : { reasoningTokens: row.reasoning_tokens }),
    ...(row.cost_usd === null ? {} : { costUsd: row.cost_usd }),
  };
}
