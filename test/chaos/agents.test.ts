import { describe, expect, it } from 'vitest';
import { EVERY_CLI, isRunning, openChaosBench, printed } from '../chaos-agent/chaos-bench.ts';
import { APPROVED, openChaosRun, planned } from '../chaos-agent/chaos-run.ts';
import { readDamaged, readLies } from '../chaos-agent/fuzz.ts';
import { statusOf } from '../runs/run-bench.ts';
import { until } from '../runtimes/shared/player-bench.ts';
import { allowedMs } from '../support/busy-machine.ts';
import { git } from '../support/git.ts';
import { createRandom } from '../support/random.ts';

/** Of whole runs and of stops; transcripts come in hundreds. */
const TRIALS = Number(process.env['SQUAD_CHAOS_TRIALS'] ?? 20);
const SEED = Number(process.env['SQUAD_CHAOS_SEED'] ?? Date.now() % 1_000_000);
console.log(`seed ${SEED} (SQUAD_CHAOS_SEED=${SEED} repeats it)`);

it(`T13 ${TRIALS * 100} damaged transcripts are read to their end, and completed only with proof`, () => {
  console.log(`${readDamaged(TRIALS * 100, SEED)} of ${TRIALS * 100} were completed`);
});

it(`T14 ${TRIALS * 250} lies: no success among them, and a typed reason for each`, () => {
  expect(readLies(TRIALS * 250, SEED)).toBe(0);
});

const UNKILLABLE = ['ignores-signals', 'forks', 'daemonises', 'sheds-its-name', 'hundred-children', 'breeds'];

describe.each(EVERY_CLI)('T12 an unkillable %s', (cli) => {
  it.for(Array.from({ length: TRIALS }, (_, trial) => trial))(
    'stopped at a random instant, trial %i',
    async (trial, test) => {
      const random = createRandom(SEED * 7919 + trial);
      const mode = UNKILLABLE[trial % UNKILLABLE.length]!;
      const bench = openChaosBench(test, { mode });
      const turn = bench.start(cli);
      if (random() < 0.5) await until('it did not get going', () => printed(turn).includes('sleep 3600'));
      await new Promise((resolve) => setTimeout(resolve, random() * 400));
      const from = performance.now();
      const result = await turn.cancel('stop');
      const about = `${mode} of seed ${SEED}, trial ${trial}`;
      expect(bench.agent.children().filter(isRunning), about).toEqual([]);
      expect(performance.now() - from, about).toBeLessThan(allowedMs(10_000));
      expect(result.outcome, about).toBe('cancelled');
    },
  );
});

it(`T14 ${TRIALS} whole runs of agents that misbehave by seed: only what is done is on the branch`, async () => {
  let done = 0;
  for (let trial = 0; trial < TRIALS; trial += 1) {
    try {
      done += await oneRun(SEED + trial);
    } catch (error) {
      throw new Error(`SQUAD_CHAOS_SEED=${SEED + trial} SQUAD_CHAOS_TRIALS=1`, { cause: error });
    }
  }
  console.log(`${done} of ${TRIALS * NAMES.length} tasks were done`);
});

const NAMES = ['one', 'two', 'three', 'four'];

/** Returns how many tasks were done. */
async function oneRun(seed: number): Promise<number> {
  const limit = 'Individual quota reached. Resets in 1s.';
  const work = NAMES.map((name) => ({ when: `# Task ${name}:`, limit, files: { [`${name}.txt`]: `${name}\n` } }));
  const chaos = openChaosRun([planned(NAMES), APPROVED, ...work, { limit }], {
    builders: ['claude', 'codex'],
    seed,
    settings: { limits: { parallel: 2, retries: 2 } },
  });
  try {
    const ended = await chaos.start().finished;
    expect([0, 1], ended.stderr).toContain(ended.code);
    const status = await chaos.bench.status();
    const done = NAMES.filter((name) => statusOf(status, name) === 'done');
    const { repository } = chaos.bench;
    const changed = git(repository, 'diff', '--name-only', 'main', 'squad/make-things').split('\n');
    expect(changed.filter((path) => path !== '').toSorted()).toEqual(done.map((name) => `${name}.txt`).toSorted());
    return done.length;
  } finally {
    chaos.end();
  }
}
