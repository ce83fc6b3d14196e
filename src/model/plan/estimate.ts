import { z } from 'zod';

/** At least so many runs make an estimate. */
export const LEAST_RUNS = 3;
/** So many of the last ones are counted. */
export const MOST_RUNS = 20;

function amounts<T extends z.ZodType>(amount: T) {
  return z.strictObject({ median: amount, p90: amount });
}

/** A forecast of what a run takes, from the last ones of this repository with the same playbook that ended as done. `minutes`: engine time. */
export const estimateSchema = z.strictObject({
  runs: z.int().min(LEAST_RUNS).max(MOST_RUNS),
  turns: amounts(z.number()),
  minutes: amounts(z.number()),
  /** null: the cost of none of them is known. */
  usd: amounts(z.number()).nullable(),
  /** Some of their turns have no known cost, so that each cost is at least so much. */
  atLeast: z.boolean(),
});
export type Estimate = z.infer<typeof estimateSchema>;
