import { expect, it } from 'vitest';
import { chaosSeed, reportTrials, trialsOf } from '../support/chaos-row.ts';
import { setClocks } from '../support/clock-steps.ts';
import { ALL, spread } from '../support/lane.ts';

const TRIALS = trialsOf({ commit: spread(1, 6), nightly: 100, release: 300 });

it(
  'T27 the clock is set by 1 s to 400 days, forth and back, at random moments of a run, killed or not: the same end',
  { ...ALL, timeout: 60 * 60_000 },
  async (test) => {
    const seed = chaosSeed();
    const failures = await setClocks(TRIALS, seed);
    if (failures === undefined) return test.skip('there is no C compiler here for the library that shifts the clock');
    reportTrials({ fault: 'T27 set clock', trials: TRIALS, failures: failures.length, bound: '0 failures', seed });
    expect(failures).toEqual([]);
  },
);
