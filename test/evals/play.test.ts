// @module-tag all
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readSet, SETS, type SetName } from '../../evals/items.ts';
import { expectation, playSets, type Result } from '../../evals/run.ts';
import { summaryOf, type Summary } from '../../evals/report.ts';
import { ALL, some } from '../support/lane.ts';
import { measured, scriptOf, type Quality } from './models.ts';

async function play(
  set: SetName,
  quality: Quality,
  ids: readonly string[],
  cap = { maxUsd: 50, assumedUsd: 0.1 },
): Promise<Result> {
  const home = mkdtempSync(join(tmpdir(), 'squad-eval-home-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  const script = join(home, 'script.json');
  writeFileSync(script, JSON.stringify(scriptOf(set, quality)));
  const asked = { sets: [set], ...cap, only: new Set(ids), say: () => undefined };
  return playSets(measured(script, home), asked);
}

async function ranked(set: SetName, ids: readonly string[]): Promise<Record<Quality, Summary>> {
  const found: Partial<Record<Quality, Summary>> = {};
  for (const quality of ['good', 'bad', 'liar'] as const) {
    const { all, stopped } = await play(set, quality, ids);
    expect(stopped).toBeNull();
    expect(all.map(({ id }) => id)).toEqual(ids);
    expect(all.every(({ end, promptHash }) => end !== '' && promptHash !== null)).toBe(true);
    found[quality] = summaryOf(set, all);
  }
  return found as Record<Quality, Summary>;
}

function expectRanked({ good, bad, liar }: Record<Quality, Summary>): void {
  expect(good).toMatchObject({ right: good.played, score: 1 });
  expect([bad.right, liar.right]).toEqual([0, 0]);
  for (const one of [bad, liar]) expect(one.score).toBeLessThanOrEqual(0);
}

it('ranks a good planner above a bad one and a liar', { timeout: 60_000 }, async () => {
  expectRanked(await ranked('planners', ['line-format']));
});

it('ranks a good reviewer above a bad one and a liar', { timeout: 90_000 }, async () => {
  const summaries = await ranked('reviewers', ['days-between', 'clean-chunk']);
  expectRanked(summaries);
  expect(summaries.good).toMatchObject({ alarms: 0, turns: 4, usd: 0.04 });
});

it('says what to expect, and stops before the cap', { timeout: 60_000 }, async () => {
  expect(expectation(SETS, 5)).toMatch(
    /^50 items \(30 of reviewers, 10 of planners, 10 of builders\).*No figure of a real/,
  );
  const ids = readSet('planners').map(({ id }) => id);
  // An item costs USD 0.02, and is assumed to cost more before that is known.
  const { all, stopped } = await play('planners', 'good', ids, { maxUsd: 0.05, assumedUsd: 0.03 });
  expect([all.length, stopped]).toEqual([2, 'the next item could go beyond USD 0.05 (spent: about USD 0.04)']);
  expect((await play('planners', 'good', ids, { maxUsd: 0.02, assumedUsd: 0.03 })).all).toEqual([]);
});

/** All of it in `npm run test:night`. */
describe.each(SETS)('the set of %s', ALL, (set) => {
  it('ranks models by their quality', { timeout: 900_000, ...ALL }, async () => {
    expectRanked(
      await ranked(
        set,
        some(readSet(set), 0, 3).map(({ id }) => id),
      ),
    );
  });
});
