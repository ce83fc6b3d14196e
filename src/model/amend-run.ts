import type { Reload } from './plan/intervention.ts';
import { raiseLimits } from './raise-limits.ts';
import type { RunDefinition } from './run.ts';

/** What a run goes by from then on. How its plan began stays on record: what was decided is folded from there. */
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
