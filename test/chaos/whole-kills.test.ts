import { expect, it } from 'vitest';
import { chaosSeed, reportTrials, trialsOf } from '../support/chaos-row.ts';
import { killMany, NAMES } from '../support/whole-kills.ts';

const TRIALS = trialsOf({ commit: 12, nightly: 200, release: 2_000 });

it(`T1 SIGKILL of squad with its git in mid-command, ${TRIALS} times`, async () => {
  const seed = chaosSeed();
  const failures = await killMany(NAMES, TRIALS, seed);
  const fault = 'T1 SIGKILL of squad with its git in merge, drop, clean, uninstall, fork';
  reportTrials({ fault, trials: TRIALS, failures: failures.length, bound: '0 failures', seed });
  expect(failures).toEqual([]);
});
