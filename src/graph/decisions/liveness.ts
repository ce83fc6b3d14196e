import type { StallFallback } from '../../model/plan/work.ts';
import { fallbackFor } from './agent-request.ts';

/** What is known of a live attempt; times in ms of one clock. */
export interface Activity {
  readonly spawnedAt: number | null;
  /** Growth of stdout or stderr. */
  readonly lastSignAt: number | null;
  readonly firstToolAt: number | null;
  readonly stalledAt: number | null;
  /** Walls raised for this piece of work, this one included. */
  readonly stalls: number;
}

export type TurnKind = 'author' | 'author-without-files' | 'review';

export type LivenessDecision =
  | { readonly do: 'nothing' }
  /** Seen by people, and the turn goes on: a stall is not a new attempt. */
  | { readonly do: 'stall'; readonly why: string }
  /** The tool came after all, or a sign of life did. */
  | { readonly do: 'clear-stall' }
  | { readonly do: 'fall-back'; readonly fallback: StallFallback };

/** The first-tool gate: counted from the last sign of life, so a slow start is no stall. */
export function decideLiveness(
  activity: Activity,
  kind: TurnKind,
  now: number,
  gate: {
    /** How long a turn may show no tool; and then once more, before the first fallback. */
    readonly ms: number;
    readonly fallbacks: readonly StallFallback[];
  },
): LivenessDecision {
  const gateMs = gate.ms;
  const { spawnedAt, stalledAt, firstToolAt } = activity;
  // Without files it may answer out of its brief alone.
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
