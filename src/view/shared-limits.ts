import { z } from 'zod';
import { SHARED_CAPS, sharedCaps, sharedCapText, type SharedUse } from '../model/shared-spending.ts';
import type { Ledger } from '../substrate/ports/ledger.ts';
import { localTime } from '../text/time.ts';
import type { LockedBy } from './driven.ts';

/** The limits of all runs of a repository together, as they are used now. Times are epoch ms. */
export const sharedLimitsViewSchema = z.strictObject({
  timezone: z.string(),
  /** When the day of that zone ends. */
  dayEnds: z.int(),
  caps: z.array(z.strictObject({ cap: z.enum(SHARED_CAPS), used: z.number(), most: z.number(), reached: z.boolean() })),
  /** Turns of today whose cost is unknown: each counts as the largest known one of its runtime. */
  unknownCostTurns: z.int().nonnegative(),
  /** Until then no turn starts, or none of a run that has not begun; null: none of the limits of a day is reached. */
  reachedUntil: z.int().nullable(),
});
export type SharedLimitsView = z.infer<typeof sharedLimitsViewSchema>;

export function sharedLimitsView(use: SharedUse): SharedLimitsView {
  const caps = sharedCaps(use);
  const ofDay = caps.some(({ cap, reached }) => reached && cap !== 'parallelTurns');
  return {
    timezone: use.timezone,
    dayEnds: use.day.until,
    caps,
    unknownCostTurns: use.limits.usdPerDay === undefined ? 0 : use.unknownCost,
    reachedUntil: ofDay ? use.day.until : null,
  };
}

/** As the ledger has them; undefined: no limits of all runs were ever set. */
export function readSharedLimits(
  ledger: Pick<Ledger, 'sharedUse'>,
  lockedBy: LockedBy | null,
): SharedLimitsView | undefined {
  const use = ledger.sharedUse(lockedBy?.since ?? Infinity);
  return use === undefined ? undefined : sharedLimitsView(use);
}

/** For people; empty: no turn or run is limited. */
export function sharedLimitLines(view: SharedLimitsView, now: number): string[] {
  const { timezone, caps, unknownCostTurns, reachedUntil } = view;
  if (caps.length === 0) return [];
  const used = caps.map((cap) => `${sharedCapText(cap)}${cap.reached ? ' (reached)' : ''}`);
  const onlyRuns = caps.every(({ cap, reached }) => !reached || cap === 'runsPerDay' || cap === 'parallelTurns');
  const what = onlyRuns ? 'no further run starts' : 'no turn starts';
  return [
    used.join(' · '),
    ...(unknownCostTurns === 0
      ? []
      : [`of ${unknownCostTurns} turns the cost is unknown; each counts as the largest known`]),
    ...(reachedUntil === null ? [] : [`${what} before ${localTime(reachedUntil, now)}, midnight in ${timezone}`]),
  ];
}
