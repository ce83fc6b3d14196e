import type { Usage } from '../../model/usage.ts';
import type { Store } from './store.ts';

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
