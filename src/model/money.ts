const MICROS = 1_000_000;

/**
 * Money is added up and compared as whole millionths of a dollar, because sums of binary fractions miss a limit by a rounding. To the
 * nearest one; an amount above zero is never rounded to zero, so that even the cheapest turns reach a limit.
 */
export function microUsd(usd: number): number {
  return usd > 0 ? Math.max(1, Math.round(usd * MICROS)) : 0;
}

/** In dollars, for people and JSON: 300000 is 0.3. */
export function usdOf(micros: number): number {
  return micros / MICROS;
}

/** Dollars with six decimals at most. What runtimes report and people write becomes this once, where it is read. */
export function wholeMicros(usd: number): number {
  return usdOf(microUsd(usd));
}

export function sumUsd(amounts: readonly number[]): number {
  return usdOf(amounts.reduce((total, usd) => total + microUsd(usd), 0));
}
