/** What a run may use. Absent: no cap. Minutes are engine time over all segments, not parked time. */
export interface RunCaps {
  readonly turns?: number | undefined;
  readonly tokens?: number | undefined;
  readonly usd?: number | undefined;
  readonly minutes?: number | undefined;
}

export interface RunTotals {
  readonly turnsClaimed: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

export type LimitDecision =
  | { readonly reached: false; readonly minutesLeftMs: number | null }
  | { readonly reached: true; readonly limit: keyof RunCaps; readonly why: string };

/** The cap that one more turn would pass, in a fixed order. The claim checks it again, in its own transaction. */
export function decideLimits(totals: RunTotals, caps: RunCaps, elapsedMs: number): LimitDecision {
  const tokens = totals.inputTokens + totals.outputTokens;
  const used: readonly [keyof RunCaps, number, number | undefined][] = [
    ['minutes', elapsedMs / 60_000, caps.minutes],
    ['turns', totals.turnsClaimed, caps.turns],
    ['usd', totals.costUsd, caps.usd],
    ['tokens', tokens, caps.tokens],
  ];
  const passed = used.find(([, amount, cap]) => cap !== undefined && amount >= cap);
  if (passed !== undefined) {
    const [limit, amount, cap] = passed;
    return { reached: true, limit, why: `${limit}: ${Math.floor(amount * 100) / 100} of ${cap} used` };
  }
  return { reached: false, minutesLeftMs: caps.minutes === undefined ? null : caps.minutes * 60_000 - elapsedMs };
}
