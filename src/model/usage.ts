import { z } from 'zod';
import { defined } from '../text/defined.ts';
import { microUsd, usdOf, wholeMicros } from './money.ts';

/** Tokens and money of one turn, or a counter reading. Absent means unknown, never zero; only claude estimates a cost. */
export const usageSchema = z.object({
  /** Without cache reads. */
  inputTokens: z.number().int().nonnegative(),
  cachedInputTokens: z.number().int().nonnegative(),
  /** With reasoning tokens. */
  outputTokens: z.number().int().nonnegative(),
  reasoningTokens: z.number().int().nonnegative().optional(),
  /** Whole micro-dollars, in dollars. */
  costUsd: z.number().nonnegative().overwrite(wholeMicros).optional(),
});
export type Usage = z.infer<typeof usageSchema>;

/** One turn's use from two readings of a session's counters. If one counter went backwards, the runtime has reset them all. */
export function usageSince(reading: Usage, before: Usage | undefined): Usage {
  if (before === undefined || wasReset(reading, before)) return reading;
  return {
    inputTokens: reading.inputTokens - before.inputTokens,
    cachedInputTokens: reading.cachedInputTokens - before.cachedInputTokens,
    outputTokens: reading.outputTokens - before.outputTokens,
    ...defined({
      reasoningTokens: difference(reading.reasoningTokens, before.reasoningTokens),
      costUsd: costSince(reading.costUsd, before.costUsd),
    }),
  };
}

function wasReset(reading: Usage, before: Usage): boolean {
  const names = ['inputTokens', 'cachedInputTokens', 'outputTokens', 'reasoningTokens', 'costUsd'] as const;
  return names.some((name) => (reading[name] ?? Infinity) < (before[name] ?? 0));
}

function difference(reading: number | undefined, before: number | undefined): number | undefined {
  return reading === undefined ? undefined : reading - (before ?? 0);
}

function costSince(reading: number | undefined, before: number | undefined): number | undefined {
  return reading === undefined ? undefined : usdOf(microUsd(reading) - microUsd(before ?? 0));
}
