// @module-tag all
import { describe, expect, it } from 'vitest';
import type { Usage } from '../../src/model/usage.ts';
import { brokenPromises } from './world/broken-promises.ts';
import type { Part } from './world/simulated-agents.ts';
import { runWorld, type WorldEnd, type WorldPlan } from './world/simulated-world.ts';
import { work, writtenPlan } from './world/written-plan.ts';

const TASKS = Array.from({ length: 12 }, (_, index) => ({ id: `t${index + 1}` }));
const TEAM = [
  ['planner', 'planner', 'scripted'],
  ['builder', 'builder', 'claude'],
] as const;
const PARALLEL = 4;

/** Every builder's turn reports this; the planner's reports nothing spent. */
function planOf(usage: Usage | undefined, limits: Readonly<Record<string, number>>): WorldPlan {
  const none = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, costUsd: 0 };
  return writtenPlan({
    team: TEAM,
    tasks: TASKS,
    limits: { parallel: PARALLEL, ...limits },
    plays: (cue): Part => {
      const part = work(cue, TASKS, 1_000 + 10 * (Number(cue.task.slice(1)) || 0));
      const used = cue.task === 'plan' ? none : usage;
      return { ...part, result: { ...part.result, ...(used === undefined ? {} : { usage: used }) } };
    },
  });
}

async function spend(usage: Usage | undefined, limits: Readonly<Record<string, number>>): Promise<WorldEnd> {
  const plan = planOf(usage, limits);
  const world = await runWorld(plan);
  expect(brokenPromises(world)).toEqual([]);
  return world;
}

describe('T23: what a run may cost', () => {
  it.each([
    ['usd', { usd: 1 }, { inputTokens: 10, cachedInputTokens: 0, outputTokens: 1, costUsd: 0.4 }, 0.4, 1],
    ['tokens', { tokens: 1_000 }, { inputTokens: 300, cachedInputTokens: 0, outputTokens: 100 }, 400, 1_000],
  ] as const)(
    '%s: parallel turns pass the cap by no more than what ran already',
    async (name, limits, usage, each, cap) => {
      const { end, reading } = await spend(usage, limits);
      expect(end).toMatchObject({ end: 'stopped' });
      const { inputTokens, outputTokens, costUsd } = reading.totals;
      const used = name === 'usd' ? costUsd : inputTokens + outputTokens;
      expect(used).toBeGreaterThanOrEqual(cap);
      expect(used).toBeLessThanOrEqual(cap + each * PARALLEL);
    },
  );

  it('turns: not one more than allowed', async () => {
    const { end, reading } = await spend(undefined, { turns: 5 });
    expect(end).toMatchObject({ end: 'stopped' });
    expect(reading.totals.turnsClaimed).toBe(5);
  });

  it('use that nobody reported is unknown, and not zero', async () => {
    const { end, reading } = await spend(undefined, {});
    expect(end).toMatchObject({ end: 'finished', outcome: 'done' });
    expect(reading.totals).toMatchObject({ unknownUsage: TASKS.length, unknownCost: TASKS.length });
    expect(reading.attempts.filter(({ settlement }) => settlement?.result.usage === undefined)).toHaveLength(
      TASKS.length,
    );
  });

  it.each([
    ['negative', { inputTokens: -5_000_000, cachedInputTokens: 0, outputTokens: 0, costUsd: -100 }],
    [
      'more than a number can hold exactly',
      { inputTokens: 1e18, cachedInputTokens: 0, outputTokens: 0, costUsd: 1e18 },
    ],
    [
      'no number',
      { inputTokens: Number.NaN, cachedInputTokens: 0, outputTokens: 0, costUsd: Number.POSITIVE_INFINITY },
    ],
  ])('%s: never gives room back, and starts nothing more once it passes a cap', async (_, usage) => {
    const { reading } = await spend(usage, { usd: 1_000, tokens: 1_000_000 });
    const { inputTokens, outputTokens, costUsd, unknownUsage, turnsClaimed } = reading.totals;
    for (const amount of [inputTokens, outputTokens, costUsd]) expect(amount).toBeGreaterThanOrEqual(0);
    // Either it counts, and stops the run, or nobody knows it, and that is said.
    const counted = inputTokens + outputTokens >= 1_000_000;
    expect(counted ? turnsClaimed <= 1 + PARALLEL : unknownUsage > 0).toBe(true);
  });
});
