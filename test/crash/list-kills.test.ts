import { expect, it } from 'vitest';
import { ALL, some } from '../support/lane.ts';
import { APPROVAL, ASKS, ENTRIES, JUDGED_ENTRY, REVIEW_REOPENS, REVIEWS_IN_ORDER } from '../support/list-scenarios.ts';
import { crashAll, recordReference, spreadFirstPasses } from '../support/run-crash.ts';

/*
 * One run for each key of the list language that has states of its own, killed at every failpoint that it passes. Each ends like the run
 * that nobody killed. `npm run test:all` plays two of them, `npm run test:night` each.
 */
it.each(some([REVIEWS_IN_ORDER, REVIEW_REOPENS, ENTRIES, JUDGED_ENTRY, ASKS, APPROVAL], 0, 2))(
  'a list with $name ends the same, wherever the engine dies',
  { ...ALL, timeout: 300_000 },
  async (scenario) => {
    const reference = await recordReference(scenario);
    const runs = spreadFirstPasses(reference, 6);
    expect(runs.flat().length).toBe(reference.passes.size);
    await crashAll(scenario, reference, some(runs, 1, 1));
  },
);
