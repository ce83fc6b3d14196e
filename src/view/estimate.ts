import { LEAST_RUNS, MOST_RUNS, type Estimate } from '../model/plan/estimate.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import { medianOf, p90Of } from '../text/quantile.ts';
import { endedPart, shortViewSchema } from './ended-view.ts';
import { usageCountSchema, type UsageCount } from './usage-count.ts';

/** Counted in an estimate. */
export interface EstimatedRun {
  readonly turns: number;
  readonly elapsedMs: number;
  readonly usage: Pick<UsageCount['usage'], 'costUsd' | 'unknownCostTurns'>;
}

/** null: there are too few runs. Pure. */
export function estimateOf(runs: readonly EstimatedRun[]): Estimate | null {
  if (runs.length < LEAST_RUNS) return null;
  const costs = runs.map(({ usage }) => usage.costUsd);
  const isKnown = costs.some((cost) => cost !== null);
  return {
    runs: runs.length,
    turns: quantiles(runs.map(({ turns }) => turns)),
    minutes: quantiles(runs.map(({ elapsedMs }) => elapsedMs / 60_000)),
    // A cost that is unknown is at least nothing.
    usd: isKnown ? quantiles(costs.map((cost) => cost ?? 0)) : null,
    atLeast: runs.some(({ usage }) => usage.costUsd === null || usage.unknownCostTurns > 0),
  };
}

function quantiles(amounts: readonly number[]): Estimate['turns'] {
  return { median: medianOf(amounts) ?? 0, p90: p90Of(amounts) ?? 0 };
}

const figuresSchema = shortViewSchema.extend({ turns: usageCountSchema.turns });

/**
 * From the rows of ends alone: no plan is folded. Counts only what ended as done, because any other run ended early or at a limit; and no
 * fork, which takes over work that others paid for. `except`: the run that is asked about.
 */
export function readEstimate(
  ledger: Pick<Ledger, 'runs' | 'newest' | 'segments'>,
  { playbook, except }: { readonly playbook: string; readonly except?: string | undefined },
): Estimate | null {
  const found: EstimatedRun[] = [];
  for (const row of ledger.runs().toReversed()) {
    if (found.length === MOST_RUNS) break;
    if (row.id === except || row.parent !== null) continue;
    const ended = endedPart(ledger, row, figuresSchema);
    if (ended?.run.playbook !== playbook || ended.run.state !== 'done') continue;
    found.push({ turns: ended.turns.started, elapsedMs: ended.use.elapsedMs, usage: ended.use.usage });
  }
  return estimateOf(found);
}
