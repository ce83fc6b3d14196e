import type { Limits, SomeLimits } from '../model/settings.ts';
import { raiseLimits } from '../model/raise-limits.ts';
import { minutesUntil } from '../text/deadline.ts';

export interface LimitSources {
  /** `squad.yaml`, or the defaults. */
  readonly settings: Limits;
  /** Of the objective's front matter. */
  readonly objective?: SomeLimits | undefined;
  readonly commandLine?: SomeLimits | undefined;
  readonly deadline?: {
    /** Epoch ms. */
    readonly at: number;
    readonly now: number;
    /** Engine time of earlier segments, when a run is resumed: `minutes` counts from the run's first start. */
    readonly spentMinutes?: number;
  };
}

/**
 * The limits of a run, limit by limit: the command line goes before the objective, the objective before `squad.yaml`, that
 * before the defaults. A deadline caps `minutes` whoever set them, to 0 if it has passed: then nothing may start.
 */
export function mergeLimits({ settings, objective, commandLine, deadline }: LimitSources): Limits {
  const merged = raiseLimits(raiseLimits(settings, objective), commandLine);
  if (deadline === undefined) return merged;
  const left = (deadline.spentMinutes ?? 0) + minutesUntil(deadline.at, deadline.now);
  return left >= merged.minutes ? merged : { ...merged, minutes: left };
}
