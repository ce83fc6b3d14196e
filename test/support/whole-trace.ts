import { expect } from 'vitest';
import type { TurnResult } from '../../src/model/turn-result.ts';
import { wrongIn, type Collected } from './collector.ts';
import type { EngineRoom } from './engine.ts';

/** All that the ledger has of its only run, as the spans in a collector have it: one tree a segment, and no other use. */
export function expectWholeTrace(room: Pick<EngineRoom, 'ledger'>, tree: ReadonlyMap<string, Collected>): void {
  const spans = [...tree.values()];
  expect(wrongIn(spans)).toEqual([]);
  const ledger = room.ledger();
  try {
    const [run] = ledger.runs();
    const runId = run?.id ?? '';
    const attempts = ledger.attempts({ runId });
    const results = attempts.map(({ id }): [string, TurnResult | undefined] => [id, ledger.settlement(id)?.result]);
    expect(results.filter(([, result]) => result === undefined)).toEqual([]);
    const turns = spans.filter(({ about }) => about['outcome'] !== undefined && about['attempt'] !== undefined);
    expect(turns.map(({ about }) => String(about['attempt'])).toSorted()).toEqual(
      attempts.map(({ id }) => id).toSorted(),
    );
    for (const [id, result] of results) {
      const turn = turns.find(({ about }) => about['attempt'] === id);
      const {
        inputTokens: input,
        cachedInputTokens: cached,
        outputTokens: output,
        costUsd: usd = 0,
      } = result?.usage ?? {};
      expect(turn?.usage, id).toEqual(result?.usage === undefined ? undefined : { input, cached, output, usd });
      expect([turn?.about['thread_id'], turn?.about['session']], id).toEqual([runId, result?.session?.id]);
    }
    const sum = (key: 'input' | 'cached' | 'output' | 'usd') =>
      turns.reduce((all, { usage }) => all + (usage?.[key] ?? 0), 0);
    const totals = ledger.totals(runId);
    expect([sum('input'), sum('cached'), sum('output'), sum('usd')]).toEqual([
      totals.inputTokens,
      totals.cachedInputTokens,
      totals.outputTokens,
      totals.costUsd,
    ]);
    const roots = spans.filter(({ parent }) => parent === undefined);
    expect(roots.map(({ about }) => Number(about['segment'])).toSorted((one, other) => one - other)).toEqual(
      ledger.segments(runId).map(({ epoch }) => epoch),
    );
  } finally {
    ledger.close();
  }
}
