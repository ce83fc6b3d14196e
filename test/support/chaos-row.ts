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
