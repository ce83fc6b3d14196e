import { z } from 'zod';
import { isTimeZone } from '../text/day.ts';
import type { Json } from '../text/json.ts';
import { wholeMicros } from './money.ts';

/** Limits of all runs of a repository together. Absent: no limit. */
const sharedLimitsSchema = z
  .strictObject({
    usdPerDay: z.number().positive().max(1_000_000).overwrite(wholeMicros),
    turnsPerDay: z.int().positive().max(1_000_000),
    /** Runs whose first turn starts on that day. */
    runsPerDay: z.int().positive().max(100_000),
    parallelRuns: z.int().positive().max(64),
    parallelTurns: z.int().positive().max(1_000),
  })
  .partial();
export type SharedLimits = z.infer<typeof sharedLimitsSchema>;

/** A day begins at midnight in this zone; absent: in the machine's. */
const timezoneSchema = z.string().refine(isTimeZone, 'is no time zone, such as Europe/Berlin or UTC');

/** `serve` in `squad.yaml`. */
export const serveSchema = z.strictObject({
  timezone: timezoneSchema.optional(),
  limits: sharedLimitsSchema.prefault({}),
});
export type ServeSettings = z.infer<typeof serveSchema>;

export const SERVE_EXAMPLE = 'serve: { timezone: Europe/Berlin, limits: { usdPerDay: 50, parallelTurns: 6 } }';

/** Where the ledger keeps them: for all runs, whatever the checkout of each says by now. */
export const LIMITS_RECORD = { kind: 'limits', id: 'day' } as const;

const limitsInForceSchema = z.object({ timezone: timezoneSchema, limits: sharedLimitsSchema });
export type LimitsInForce = z.infer<typeof limitsInForceSchema>;

/** The value of that record; undefined: it is none. */
export function readLimits(value: unknown): LimitsInForce | undefined {
  return limitsInForceSchema.safeParse(value).data;
}

/** Takes the smaller of each limit: a repository only lowers those of a person's own file, whose time zone counts as well. */
export function mergeServe(own: Partial<ServeSettings>, repository: Partial<ServeSettings>): Partial<ServeSettings> {
  const limits = { ...repository.limits, ...own.limits };
  for (const key of Object.keys(limits) as (keyof SharedLimits)[]) {
    limits[key] = Math.min(own.limits?.[key] ?? Infinity, repository.limits?.[key] ?? Infinity);
  }
  return { ...repository, ...own, limits };
}

/** The record that makes these limits hold; undefined: they do already. `known`: the record that is there. */
export function limitsToRecord(
  { timezone, limits }: ServeSettings,
  known: Json | undefined,
): LimitsInForce | undefined {
  const wanted = { timezone: timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone, limits };
  return JSON.stringify(known) === JSON.stringify(wanted) ? undefined : wanted;
}
