import { expect, it } from 'vitest';
import { crashAll, recordReference, type Kill, type Reference } from '../support/run-crash.ts';
import { createRandom } from '../support/random.ts';
import { driveToEnd, endStateOf, expectUnharmed, openRunRoom } from '../support/run-room.ts';
import { FAN_OUT, REVIEW, type Scenario } from '../support/run-scenarios.ts';

const RUNS = Number(process.env['SQUAD_CHAOS_RUNS'] ?? 60);
/** Then one may live. */
const MOST_KILLS = 8;
/** Of an engine that is killed: as long as an uncrashed run takes. */
const LONGEST_LIFE_MS = 4_000;
/** Passes of one point that are killed, spread over all that the run makes. */
const PASSES = 6;

it(`${RUNS} whole runs whose engines are SIGKILLed at random instants end as if nothing had been`, async () => {
  const seed = Number(process.env['SQUAD_CHAOS_SEED'] ?? Date.now() % 1_000_000);
  console.log(`seed ${seed} (SQUAD_CHAOS_SEED=${seed} repeats it)`);
  const random = createRandom(seed);
  const scenarios = [FAN_OUT, REVIEW];
  const references: Reference[] = [];
  for (const scenario of scenarios) references.push(await recordReference(scenario));
  let kills = 0;
  for (let run = 0; run < RUNS; run += 1) {
    const which = run % scenarios.length;
    try {
      kills += await oneRun(scenarios[which] ?? FAN_OUT, references[which], random);
    } catch (error) {
      throw new Error(`run ${run} of seed ${seed}`, { cause: error });
    }
  }
  console.log(`${RUNS} runs, ${kills} kills`);
});

async function oneRun(scenario: Scenario, reference: Reference | undefined, random: () => number): Promise<number> {
  const room = openRunRoom(scenario);
  try {
    const lives = Array.from({ length: MOST_KILLS }, () => random() * LONGEST_LIFE_MS);
    const { last, killed } = await driveToEnd(room, [], lives);
    if (last.signal === null) expect(last.code, last.stderr).toBe(reference?.exitCode);
    expect(endStateOf(room)).toEqual(reference?.end);
    expectUnharmed(room);
    return killed;
  } finally {
    room.close();
  }
}

it.each([FAN_OUT, REVIEW])('$name: one run for each failpoint and pass, killed there alone', async (scenario) => {
  const reference = await recordReference(scenario);
  const kills = [...reference.passes].flatMap(([point, count]): Kill[][] => {
    // The last ones of a busy point are not passed by every run.
    const most = Math.max(1, Math.floor(count * 0.8));
    const step = Math.max(1, Math.floor(most / PASSES));
    return Array.from({ length: Math.ceil(most / step) }, (_, index) => [{ point, pass: 1 + index * step }]);
  });
  console.log(`${scenario.name}: ${kills.length} runs`);
  await crashAll(scenario, reference, kills, 3);
});
