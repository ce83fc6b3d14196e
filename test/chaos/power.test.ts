import { expect, it } from 'vitest';
import { chaosSeed, reportTrials, trialsOf } from '../support/chaos-row.ts';
import { canRecord } from '../support/power/system-calls.ts';
import { cutPower } from '../support/power/trial.ts';

const CUTS = trialsOf({ commit: 10, nightly: 200, release: 1_000 });
const skipped = canRecord() ? '' : ' (skipped: strace is not installed, or may not trace)';

it.skipIf(!canRecord())(`${CUTS} power cuts of a run that is delivered, merged and dropped${skipped}`, async () => {
  const seed = chaosSeed();
  const failures = await cutPower({ cuts: CUTS, seed });
  reportTrials({
    fault: 'power cuts, with all that was not flushed dropped',
    trials: CUTS,
    failures: failures.length,
    bound: '0 runs with another end, a damaged repository, or something on record missing',
    seed,
  });
  expect(failures).toEqual([]);
});
