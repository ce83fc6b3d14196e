import { clearedText, stallText } from '../model/wall-text.ts';
import { fallbackFor, type StallFallback } from '../model/plan/work.ts';

/** A live attempt as seen so far. Times are ms of one clock. */
export interface Activity {
  readonly spawnedAt: number | null;
  /** When stdout or stderr last grew. */
  readonly lastSignAt: number | null;
  readonly firstToolAt: number | null;
  readonly stalledAt: number | null;
  /** The sign of life that the stall was counted from; null: it is not known. */
  readonly quietSince: number | null;
  /** Stalls of this request so far, this one included. */
  readonly stalls: number;
}

export type TurnKind = 'author' | 'author-without-files' | 'review';

export type LivenessDecision =
  | { readonly do: 'nothing' }
  /** People see the stall, and the turn continues. */
  | { readonly do: 'stall'; readonly why: string; readonly since: number }
  /** The turn used a tool or showed another sign of life. */
  | { readonly do: 'clear-stall'; readonly why: string }
  | { readonly do: 'fall-back'; readonly fallback: StallFallback };

/** A tool is output first, and read a moment later. */
const READ_MS = 500;

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
  const { quietSince } = activity;
  const quiet = quietSince === null ? null : now - quietSince;
  if (firstToolAt !== null) {
    return stalledAt === null ? { do: 'nothing' } : { do: 'clear-stall', why: clearedText('tool', quiet) };
  }
  const sign = Math.max(spawnedAt, activity.lastSignAt ?? 0);
  if (stalledAt === null) {
    if (now < sign + gateMs) return { do: 'nothing' };
    return { do: 'stall', why: stallText(gateMs), since: sign };
  }
  if (sign > stalledAt) {
    if (now < sign + READ_MS) return { do: 'nothing' };
    return { do: 'clear-stall', why: clearedText('sign', quietSince === null ? null : sign - quietSince) };
  }
  if (now < stalledAt + gateMs) return { do: 'nothing' };
  return { do: 'fall-back', fallback: fallbackFor(gate.fallbacks, activity.stalls) };
}
