import { z } from 'zod';

/**
 * Tokens and money of one turn, or a runtime's counter reading. An absent `Usage` means unknown, which is never zero;
 * so is an absent `costUsd` (only claude gives an estimate).
 */
export const usageSchema = z.object({
  /** Without cache reads. */
  inputTokens: z.number().int().nonnegative(),
  cachedInputTokens: z.number().int().nonnegative(),
  /** With reasoning tokens. */
  outputTokens: z.number().int().nonnegative(),
  reasoningTokens: z.number().int().nonnegative().optional(),
  costUsd: z.number().nonnegative().optional(),
});
export type Usage = z.infer<typeof usageSchema>;

/**
 * The use of one turn from two readings of a counter that runs over the whole session (runtimes.md §1.3). A counter that
 * went backwards was reset by the runtime, so the new reading is the turn's own.
 */
export function usageSince(reading: Usage, before: Usage | undefined): Usage {
  if (before === undefined) return reading;
  return {
    inputTokens: since(reading.inputTokens, before.inputTokens),
    cachedInputTokens: since(reading.cachedInputTokens, before.cachedInputTokens),
    outputTokens: since(reading.outputTokens, before.outputTokens),
    ...optional('reasoningTokens', difference(reading.reasoningTokens, before.reasoningTokens)),
    ...optional('costUsd', difference(reading.costUsd, before.costUsd)),
  };
}

function since(reading: number, before: number): number {
  return reading >= before ? reading - before : reading;
}

function difference(reading: number | undefined, before: number | undefined): number | undefined {
  return reading === undefined ? undefined : since(reading, before ?? 0);
}

function optional<K extends string>(key: K, value: number | undefined): { [P in K]?: number } {
  return (value === undefined ? {} : { [key]: value }) as { [P in K]?: number };
}
