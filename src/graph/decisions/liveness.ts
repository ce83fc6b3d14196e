import type { WallFallback } from '../../model/plan/work.ts';
import { wayOut } from './errand.ts';

/** What is known of a live attempt; times in ms of one clock. */
export interface Activity {
  readonly spawnedAt: number | null;
  /** Growth of stdout or stderr. */
  readonly lastSignAt: number | null;
  readonly firstToolAt: number | null;
  readonly walledAt: number | null;
  /** Walls raised for this piece of work, this one included. */
  readonly walls: number;
}

export type TurnKind = 'author' | 'author-without-files' | 'review';

export type LivenessDecision =
  /** Look again then; null: nothing more to look for. */
  | { readonly do: 'nothing'; readonly checkAt: number | null }
  /** Seen by people, and the turn goes on: a wall is not a new attempt. */
  | { readonly do: 'raise-wall'; readonly why: string }
  /** The tool came after all, or a sign of life did. */
  | { readonly do: 'clear-wall' }
  | { readonly do: 'fall-back'; readonly fallback: WallFallback };

/** The first-tool gate: counted from the last sign of life, so that a slow start is no wall. */
export function decideLiveness(
  activity: Activity,
  kind: TurnKind,
  now: number,
  gate: {
    /** How long a turn may show no tool; and then once more, before the first way out of the wall is taken. */
    readonly ms: number;
    readonly walls: readonly WallFallback[];
  },
): LivenessDecision {
  const gateMs = gate.ms;
  const { spawnedAt, walledAt, firstToolAt } = activity;
  // Without files it may answer out of its brief alone.
  if (kind === 'author-without-files' || spawnedAt === null) return { do: 'nothing', checkAt: null };
  if (firstToolAt !== null) return walledAt === null ? { do: 'nothing', checkAt: null } : { do: 'clear-wall' };
  const sign = Math.max(spawnedAt, activity.lastSignAt ?? 0);
  if (walledAt === null) {
    const due = sign + gateMs;
    if (now < due) return { do: 'nothing', checkAt: due };
    return { do: 'raise-wall', why: `no tool was used within ${gateMs / 1_000} s of the last sign of life` };
  }
  if (sign > walledAt) return { do: 'clear-wall' };
  const due = walledAt + gateMs;
  if (now < due) return { do: 'nothing', checkAt: due };
  return { do: 'fall-back', fallback: wayOut(gate.walls, activity.walls) };
}
