import { z } from 'zod';
import { defined } from '../text/defined.ts';
import { microUsd, usdOf, wholeMicros } from './money.ts';

const tokens = z.number().int().nonnegative();

/** Tokens and money of one turn, or a counter reading. Absent means unknown, never zero. The three counts of tokens are known together. */
export const usageSchema = z.object({
  /** Without cache reads. */
  inputTokens: tokens.optional(),
  cachedInputTokens: tokens.optional(),
  /** With reasoning tokens. */
  outputTokens: tokens.optional(),
  reasoningTokens: z.number().int().nonnegative().optional(),
  /** Whole micro-dollars, in dollars. */
  costUsd: z.number().nonnegative().overwrite(wholeMicros).optional(),
});
export type Usage = z.infer<typeof usageSchema>;

/** Tokens of the input, with those of the cache; undefined: unknown. */
export function allInput({ inputTokens, cachedInputTokens }: Usage): number | undefined {
  return inputTokens === undefined ? undefined : inputTokens + (cachedInputTokens ?? 0);
}

/** A turn's tokens for people. */
export function tokensText({ inputTokens, cachedInputTokens = 0, outputTokens = 0 }: Usage): string {
  if (inputTokens === undefined) return 'tokens unknown';
  return `${inputTokens} tokens in, ${cachedInputTokens} cached, ${outputTokens} out`;
}

/** One turn's use from two readings of a session's counters. If one counter went backwards, the runtime has reset them all. */
export function usageSince(reading: Usage, before: Usage | undefined): Usage {
  if (before === undefined || wasReset(reading, before)) return reading;
  return defined({
    inputTokens: difference(reading.inputTokens, before.inputTokens),
    cachedInputTokens: difference(reading.cachedInputTokens, before.cachedInputTokens),
    outputTokens: difference(reading.outputTokens, before.outputTokens),
    reasoningTokens: difference(reading.reasoningTokens, before.reasoningTokens),
    costUsd: costSince(reading.costUsd, before.costUsd),
  });
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
