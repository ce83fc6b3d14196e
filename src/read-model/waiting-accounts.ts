import { z } from 'zod';
import type { RunReading } from './read-run.ts';

/** An account at its usage limit: nobody on it starts before `until` (epoch ms), and then one alone, as the probe. */
export const waitingAccountSchema = z.strictObject({ account: z.string(), until: z.int(), probing: z.boolean() });

export function waitingAccountsOf({ board }: Pick<RunReading, 'board'>): z.infer<typeof waitingAccountSchema>[] {
  return [...board.accounts].map(([account, { until, probe }]) => ({ account, until, probing: probe !== null }));
}
