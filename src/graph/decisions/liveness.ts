import { fallbackFor, type StallFallback } from '../../model/plan/work.ts';

/** A live attempt as seen so far. Times are ms of one clock. */
export interface Activity {
  readonly spawnedAt: number | null;
  /** When stdout or stderr last grew. */
  readonly lastSignAt: number | null;
  readonly firstToolAt: number | null;
  readonly stalledAt: number | null;
  /** Stalls of this request so far, this one included. */
  readonly stalls: number;
}

export type TurnKind = 'author' | 'author-without-files' | 'review';

export type LivenessDecision =
  | { readonly do: 'nothing' }
  /** People see the stall, and the turn continues. */
  | { readonly do: 'stall'; readonly why: string }
  /** The turn used a tool or showed another sign of life. */
  | { readonly do: 'clear-stall' }
  | { readonly do: 'fall-back'; readonly fallback: StallFallback };

/** Whether a turn has stalled: no tool since the last sign of life. A slow start is no stall. */
export function decideLiveness(
  activity: Activity,
  kind: TurnKind,
  now: number,
  gate: {
    /** How long a turn may use no tool, and then how long until the first fallback. */
    readonly ms: number;
    readonly fallbacks: readonly StallFallback[];
  },
): LivenessDecision {
  const gateMs = gate.ms;
  const { spawnedAt, stalledAt, firstToolAt } = activity;
  // It may answer from its brief alone.
  if (kind === 'author-without-files' || spawnedAt === null) return { do: 'nothing' };
  if (firstToolAt !== null) return stalledAt === null ? { do: 'nothing' } : { do: 'clear-stall' };
  const sign = Math.max(spawnedAt, activity.lastSignAt ?? 0);
  if (stalledAt === null) {
    if (now < sign + gateMs) return { do: 'nothing' };
    return { do: 'stall', why: `no tool was used within ${gateMs / 1_000} s of the last sign of life` };
  }
  if (sign > stalledAt) return { do: 'clear-stall' };
  if (now < stalledAt + gateMs) return { do: 'nothing' };
  return { do: 'fall-back', fallback: fallbackFor(gate.fallbacks, activity.stalls) };
}
