// @module-tag all
import { expect, it } from 'vitest';
import { SPREAD, spread } from '../support/lane.ts';
import { historyHash } from './world/history-hash.ts';
import { seededPlan } from './world/seeded-plan.ts';
import type { Cast, Part } from './world/simulated-agents.ts';
import { runWorld, type WorldEnd, type WorldPlan } from './world/simulated-world.ts';

const RUNS = Number(process.env['SQUAD_SIM_REPLAYS'] ?? spread(1, 5));
const FROM = 500;

/** The run, and agents that say again what its ledger has of them. */
async function record(plan: WorldPlan): Promise<{ world: WorldEnd; cast: Cast }> {
  const deeds = new Map<string, Part>();
  const recording =
    (cast: Cast): Cast =>
    (cue) => {
      const part = cast(cue);
      deeds.set(cue.request.turnId, part);
      return part;
    };
  const world = await runWorld({ ...plan, cast: (time, stage) => recording(plan.cast(time, stage)) });
  const results = new Map(world.reading.attempts.map(({ attempt, settlement }) => [attempt.id, settlement?.result]));
  const cast: Cast = ({ request }) => {
    const result = results.get(request.turnId);
    const part = deeds.get(request.turnId);
    if (result === undefined || part === undefined) throw new Error(`${request.turnId} is not of the recorded run`);
    // What it did in its folder and when is no part of its answer.
    return { ...part, result };
  };
  return { world, cast };
}

it(
  `T25: ${RUNS} recorded runs, run again with their recorded answers, decide the same`,
  { ...SPREAD, timeout: 120_000 },
  async () => {
    for (let seed = FROM; seed < FROM + RUNS; seed += 1) {
      const plan = { ...seededPlan(seed, 'small'), crashes: [] };
      const { world, cast } = await record(plan);
      const again = await runWorld({ ...plan, cast: () => cast });
      expect(again.history.events.length).toBeGreaterThan(10);
      expect(historyHash(again.history), `seed ${seed}`).toBe(historyHash(world.history));
    }
  },
);
