import type { Usage } from '../../model/usage.ts';
import type { Totals } from '../ports/ledger.ts';
import { lastSeq } from './events.ts';
import type { Store } from './store.ts';

/** `+` keeps SQLite from looking by run, which would read all of them; `claim_seq` and `seq` are few after what is known. */
const CLAIMED = `
SELECT count(*) AS claimed FROM attempt
WHERE claim_seq > ? AND claim_seq <= ? AND +run_id = ? AND kind = 'turn'`;

/** `total` adds as floating point: `sum` throws on an overflow, and a runtime may report any number. */
const SETTLED = `
SELECT count(*) AS settled,
  count(*) FILTER (WHERE settlement.failure = 'never-started') AS neverStarted,
  count(*) FILTER (WHERE settlement.failure = 'lost') AS lost,
  total(usage.input_tokens) AS inputTokens,
  total(usage.cached_input_tokens) AS cachedInputTokens,
  total(usage.output_tokens) AS outputTokens,
  total(usage.cost_usd) AS costUsd,
  count(*) FILTER (WHERE usage.input_tokens IS NULL AND settlement.failure IS NOT 'never-started') AS unknownUsage,
  count(*) FILTER (WHERE usage.cost_usd IS NULL AND settlement.failure IS NOT 'never-started') AS unknownCost
FROM settlement
CROSS JOIN attempt ON attempt.id = settlement.attempt_id
LEFT JOIN usage ON usage.attempt_id = settlement.attempt_id
WHERE settlement.seq > ? AND settlement.seq <= ? AND +attempt.run_id = ? AND attempt.kind = 'turn'`;

type Settled = Omit<Totals, 'turnsClaimed' | 'turnsSettled' | 'turnsLost' | 'turnsLive'> & {
  readonly settled: number;
  readonly neverStarted: number;
  readonly lost: number;
};

/**
 * Of a run without turns: all zero. Claims and settlements only ever come to the end, so what was counted before is added
 * to: every decision asks, and a run may have thousands of turns.
 */
export function readTotals(store: Store, runId: string): Totals {
  const { db, counted } = store;
  const before = counted.get(runId) ?? { seq: 0, totals: NO_TOTALS };
  const range = [before.seq, lastSeq(store), runId] as const;
  const [, seq] = range;
  if (seq === before.seq) return before.totals;
  const claims = db.prepare<[number, number, string], { claimed: number }>(CLAIMED).get(...range);
  const settled = db.prepare<[number, number, string], Settled>(SETTLED).get(...range);
  if (claims === undefined || settled === undefined) return before.totals;
  const totals = addUp(before.totals, claims.claimed, settled);
  // What is not committed yet may never be.
  if (!db.inTransaction) counted.set(runId, { seq, totals });
  return totals;
}

/** A turn whose agent never ran is none any more: a crash before its start must not cost a run one of its turns. */
function addUp(before: Totals, claimed: number, more: Settled): Totals {
  return {
    turnsClaimed: before.turnsClaimed + claimed - more.neverStarted,
    turnsSettled: before.turnsSettled + more.settled - more.neverStarted,
    turnsLost: before.turnsLost + more.lost,
    turnsLive: before.turnsLive + claimed - more.settled,
    inputTokens: before.inputTokens + more.inputTokens,
    cachedInputTokens: before.cachedInputTokens + more.cachedInputTokens,
    outputTokens: before.outputTokens + more.outputTokens,
    costUsd: before.costUsd + more.costUsd,
    unknownUsage: before.unknownUsage + more.unknownUsage,
    unknownCost: before.unknownCost + more.unknownCost,
  };
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
