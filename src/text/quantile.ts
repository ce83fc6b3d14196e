/** The middle of some numbers, or the middle between the two there; null: there are none. */
export function medianOf(amounts: readonly number[]): number | null {
  const sorted = amounts.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle];
  if (upper === undefined) return null;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

/** The least of some numbers that is not below nine tenths of them; null: there are none. */
export function p90Of(amounts: readonly number[]): number | null {
  return amounts.toSorted((a, b) => a - b)[Math.ceil(amounts.length * 0.9) - 1] ?? null;
}
