import type { Limits, SomeLimits } from '../model/settings.ts';
import { raiseLimits } from '../model/raise-limits.ts';
import { minutesUntil } from '../text/deadline.ts';

export interface LimitSources {
  /** `squad.yaml`, or the defaults. */
  readonly settings: Limits;
  /** From the objective's front matter. */
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
 * The limits of a run. For each limit, the command line wins over the objective, the objective over `squad.yaml`, and that over
 * the defaults. A deadline caps `minutes`; a deadline that has passed makes them 0, so that nothing may start.
 */
export function mergeLimits({ settings, objective, commandLine, deadline }: LimitSources): Limits {
  const merged = raiseLimits(raiseLimits(settings, objective), commandLine);
  if (deadline === undefined) return merged;
  const left = (deadline.spentMinutes ?? 0) + minutesUntil(deadline.at, deadline.now);
  return left >= merged.minutes ? merged : { ...merged, minutes: left };
}
