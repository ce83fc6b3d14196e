import { expect, it } from 'vitest';
import { CANONICAL_RUNS } from '../support/canonical-runs.ts';
import { chaosSeed, reportTrials, trialsOf } from '../support/chaos-row.ts';
import { crashEach, spreadPasses } from '../support/run-crash.ts';
import { COUNCIL } from '../support/council-scenario.ts';
import { anywhere, killRuns, referenceOf, whileResuming } from '../support/run-kills.ts';
import { FAN_OUT, REVIEW } from '../support/run-scenarios.ts';

const RUNS = [FAN_OUT, REVIEW, COUNCIL, ...CANONICAL_RUNS];
const BOUND = '0 runs with another end, side effect, count or process left';
/** Passes of each failpoint that are killed, spread over all that the run makes; `--trials` sets this number. */
const PASSES = trialsOf({ commit: 1, nightly: 6, release: 18 });

it.each(RUNS)('T1 $name: one run for each failpoint and pass, killed there alone', async (scenario) => {
  const reference = await referenceOf(scenario);
  const kills = spreadPasses(reference, PASSES);
  const failures = await crashEach(
    scenario,
    reference,
    kills.map((kill) => [kill]),
    2,
  );
  reportTrials({
    fault: `T1 SIGKILL at each failpoint: ${scenario.name}`,
    trials: kills.length,
    failures: failures.length,
    bound: BOUND,
  });
  expect(failures).toEqual([]);
});

it.each([
  {
    fault: 'T2 SIGKILL at random instants',
    planOf: anywhere,
    tiers: { commit: 60, nightly: 3_000, release: 10_000 },
  },
  {
    fault: 'T3 SIGKILL of resumes, up to five deep',
    planOf: whileResuming,
    tiers: { commit: 20, nightly: 500, release: 2_000 },
  },
])('$fault: the same end, and nothing done twice', async ({ fault, planOf, tiers }) => {
  const seed = chaosSeed();
  console.log(`seed ${seed} (--seed ${seed} repeats it)`);
  const outcome = await killRuns(RUNS, { seed, trials: trialsOf(tiers) }, planOf);
  const { trials, kills, runs, failures } = outcome;
  console.log(`${runs} runs, ${kills} kills`);
  reportTrials({ fault, trials, failures: failures.length, bound: BOUND, seed });
  expect(failures).toEqual([]);
});
