import { appendFileSync } from 'node:fs';

/** One line of the table that `npm run test:chaos` ends with. */
export interface ChaosRow {
  /** The bar and what is done to squad: `T2 SIGKILL at random instants`. */
  readonly fault: string;
  /** Really made, which can be fewer than were asked for when one broke. */
  readonly trials: number;
  readonly failures: number;
  /** What must hold: `0 failures`, `p99 ≤ 50 ms`. */
  readonly bound: string;
  /** Repeats these trials with SQUAD_CHAOS_SEED; absent: nothing about them is random. */
  readonly seed?: number;
}

/**
 * Adds a row to the table. Call it once per test, also when a trial failed, before the test throws:
 * `reportTrials({ fault: 'T2 SIGKILL at random instants', trials, failures, bound: '0 failures' })`.
 */
export function reportTrials(row: ChaosRow): void {
  const { fault, trials, failures, bound, seed } = row;
  console.log(
    `${fault}: ${trials} trials, ${failures} failures (${bound})${seed === undefined ? '' : `, seed ${seed}`}`,
  );
  // Set by scripts/chaos.mjs; vitest alone only prints.
  const file = process.env['SQUAD_CHAOS_ROWS'];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(row)}\n`);
}

/**
 * How many trials this tier has (docs of the tiers: CONTRIBUTING.md), set by `npm run test:chaos -- --tier nightly`; its
 * `--trials N` takes the place of all three: `trialsOf({ commit: 60, nightly: 3_000, release: 10_000 })`.
 */
export function trialsOf(tiers: {
  readonly commit: number;
  readonly nightly: number;
  readonly release: number;
}): number {
  const { SQUAD_CHAOS_TRIALS: asked, SQUAD_CHAOS_TIER: tier } = process.env;
  if (asked !== undefined) return Number(asked);
  return tier === 'nightly' || tier === 'release' ? tiers[tier] : tiers.commit;
}

/** Of everything random in the test: a new one each time, unless `--seed N` (SQUAD_CHAOS_SEED) repeats a run. */
export function chaosSeed(): number {
  return Number(process.env['SQUAD_CHAOS_SEED'] ?? Date.now() % 1_000_000);
}
