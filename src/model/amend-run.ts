import type { Reload } from './plan/intervention.ts';
import { raiseLimits } from './limits.ts';
import type { RunDefinition } from './run.ts';

/** The run's definition after a reload. It keeps the settings that the plan began with, because replay starts from them. */
export function amendRun(definition: RunDefinition, { setup, verify, limits, trusted }: Reload): RunDefinition {
  return {
    ...definition,
    setup,
    verify,
    limits: raiseLimits(definition.limits, limits),
    trusted,
    began: definition.began ?? { verifies: definition.verify.length > 0 },
  };
}
