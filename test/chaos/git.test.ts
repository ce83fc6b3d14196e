import { expect, it } from 'vitest';
import { chaosSeed, reportTrials, trialsOf } from '../support/chaos-row.ts';
import { createRandom } from '../support/random.ts';
import { addAtOnce, playUnder, type GitKill } from '../substrate/git/git-faults.ts';

const ADDS = trialsOf({ commit: 1, nightly: 20, release: 100 });
const RUNS = trialsOf({ commit: 20, nightly: 200, release: 1_000 });
/** Then one may live. */
const MOST_KILLS = 6;
/** Of an engine that is killed: as long as an uncrashed one takes. */
const LONGEST_LIFE_MS = 1_000;
const VERBS = [
  'hash-object',
  'update-index',
  'check-ignore',
  'read-tree',
  'write-tree',
  'commit-tree',
  'merge-tree',
  'update-ref',
];

it(`T17 400 worktrees added at once by four engines, ${ADDS} times`, async () => {
  await repeat('T17 400 parallel adds, config.lock held', ADDS, undefined, async () =>
    addAtOnce({ engines: 4, each: 100 }),
  );
});

it(`T17 ${RUNS} runs of git whose engines and gits are SIGKILLed at random instants`, async () => {
  const seed = chaosSeed();
  const random = createRandom(seed);
  let [engines, gits] = [0, 0];
  await repeat('T17 SIGKILL of git and of its engine at random instants', RUNS, seed, async () => {
    const planned = Array.from({ length: MOST_KILLS }, () => pickKill(random));
    const killed = await playUnder(planned);
    engines += killed.engines;
    gits += killed.gits;
  });
  console.log(`${RUNS} runs, ${engines} engines and ${gits} gits killed (SQUAD_CHAOS_SEED=${seed} repeats them)`);
});

function pickKill(random: () => number): GitKill {
  const verb = VERBS[Math.floor(random() * VERBS.length * 2)];
  return verb === undefined ? { afterMs: random() * LONGEST_LIFE_MS } : { verb, afterMs: random() * 6 };
}

/** All of them, also when one breaks; then the first failure is thrown. */
async function repeat(fault: string, times: number, seed: number | undefined, trial: () => Promise<void>) {
  const failures: unknown[] = [];
  for (let index = 0; index < times; index += 1) {
    await trial().catch((error: unknown) => failures.push(new Error(`trial ${index}`, { cause: error })));
  }
  const bound = '0 failures, the user’s side byte-identical';
  reportTrials({ fault, trials: times, failures: failures.length, bound, ...(seed === undefined ? {} : { seed }) });
  if (failures[0] !== undefined) throw failures[0];
  expect(failures).toEqual([]);
}
