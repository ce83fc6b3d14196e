import { expect, it } from 'vitest';
import { CANONICAL_RUNS } from '../support/canonical-runs.ts';
import { chaosSeed } from '../support/chaos-row.ts';
import { crashAll, crashAt, spreadFirstPasses } from '../support/run-crash.ts';
import { anywhere, killRuns, referenceOf, whileResuming } from '../support/run-kills.ts';
import { ALL, LANE, NIGHT, spread } from '../support/lane.ts';

const MINUTES = 60_000;
/** Each run dies at one share of its failpoints, each at others. */
const SHARES = spread(32, 12);
/** `npm run test:all` draws a sixth of the runs, other ones each time. */
const RUNS = CANONICAL_RUNS.filter((_, index) => LANE !== 'all' || (index + chaosSeed()) % 6 === 0);
const KILLS = Number(process.env['SQUAD_CHAOS_TRIALS'] ?? spread(6, 24));
const CRASHES = Number(process.env['SQUAD_CHAOS_TRIALS'] ?? spread(1, 8));

/*
 * A few of what `npm run test:chaos` does by the thousand, more with `SQUAD_CHAOS_TRIALS`. Every run ends in the state of the run that nobody killed, with
 * a clean ledger, the same counts towards its caps, each side effect once, and no process left.
 */
it(
  'T1 canonical runs killed at a share of their failpoints end as if nothing had been',
  { ...ALL, timeout: 8 * MINUTES },
  async () => {
    const rest = RUNS.map((scenario, index) => ({ scenario, index }));
    const lane = async (): Promise<void> => {
      for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
        const reference = await referenceOf(next.scenario);
        const share = spreadFirstPasses(reference, SHARES)[next.index % SHARES] ?? [];
        expect(share.length).toBeGreaterThan(1);
        await crashAll(next.scenario, reference, [share], 1);
      }
    };
    await Promise.all([lane(), lane()]);
  },
);

it(
  `T2 ${KILLS} SIGKILLs at random instants of canonical runs: the same end, and nothing done twice`,
  { ...NIGHT, timeout: 8 * MINUTES },
  async () => {
    const { failures, trials } = await killRuns(CANONICAL_RUNS, { seed: chaosSeed(), trials: KILLS }, anywhere);
    expect(failures).toEqual([]);
    expect(trials).toBeGreaterThanOrEqual(KILLS);
  },
);

it(
  `T3 ${CRASHES} crashes whose resumes are killed at once, up to five deep: the same end, and nothing done twice`,
  { ...ALL, timeout: 8 * MINUTES },
  async () => {
    const { failures, trials } = await killRuns(CANONICAL_RUNS, { seed: chaosSeed(), trials: CRASHES }, whileResuming);
    expect(failures).toEqual([]);
    expect(trials).toBeGreaterThanOrEqual(CRASHES);
  },
);

it('T1 killed as it ends, with a task’s folder half deleted, the run leaves nothing of it', ALL, async () => {
  const [scenario] = CANONICAL_RUNS;
  if (scenario === undefined) throw new Error('there is no run');
  const reference = await referenceOf(scenario);
  // The last of all is the engine’s own.
  const pass = (reference.passes.get('git.half-removed') ?? 0) - 1;
  await crashAt(scenario, reference, [{ point: 'git.half-removed', pass }]);
});
