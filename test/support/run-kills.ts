import { expect } from 'vitest';
import { createRandom } from './random.ts';
import { recordReference, type Reference } from './run-crash.ts';
import { driveToEnd, endStateOf, expectUnharmed, inRunRoom, killAfter, type Death } from './run-room.ts';
import type { Scenario } from './scenario-parts.ts';

/** Of one run; then an engine may live. */
const MOST_KILLS = 8;
/** Resumes in one run that are killed again at once. */
const CRASHES = 4;
const DEEPEST = 5;
/** After its start, or after it has taken the run up. */
const AT_ONCE_MS = 50;
/** Runs; a night is long. */
const TELL_EVERY = 25;

/** What is to be done to one run, and how much of it counts as trials. */
export interface Plan {
  readonly deaths: readonly Death[];
  /** Of a run whose first `killed` deaths came true. */
  trials(killed: number): number;
}

export interface Outcome {
  readonly runs: number;
  readonly kills: number;
  readonly trials: number;
  readonly failures: readonly string[];
}

const references = new Map<Scenario, Promise<Reference>>();

/** Recorded once in this process. */
export function referenceOf(scenario: Scenario): Promise<Reference> {
  const known = references.get(scenario) ?? recordReference(scenario);
  references.set(scenario, known);
  return known;
}

/** Instants that are uniform over what is left of the run, as if each engine went on where the last one was. */
export function anywhere(random: () => number, { ms }: Reference): Plan {
  let left = ms;
  const deaths = Array.from({ length: MOST_KILLS }, () => {
    const life = random() * left;
    left = Math.max(left - life / 2, ms / 3);
    return killAfter(life);
  });
  return { deaths, trials: (killed) => killed };
}

/** A crash anywhere, then one to five resumes that are killed at once, and all of it again: each such crash is a trial. */
export function whileResuming(random: () => number, { ms }: Reference): Plan {
  const depths = Array.from({ length: CRASHES }, () => 1 + Math.floor(random() * DEEPEST));
  const deaths = depths.flatMap((depth) => [
    killAfter(random() * ms),
    ...Array.from({ length: depth }, () => killAtOnce(random() < 0.5, random() * AT_ONCE_MS)),
  ]);
  const trials = (killed: number): number =>
    depths.filter((_, index) => killed > depths.slice(0, index).reduce((sum, depth) => sum + depth + 1, 0) + 1).length;
  return { deaths, trials };
}

/** The engine's first line says that it has the run. */
function killAtOnce(hasRun: boolean, ms: number): Death {
  return (engine, room) => {
    if (!hasRun) return killAfter(ms)?.(engine, room);
    // One that ends without a line has ended by itself.
    void engine
      .line(() => true)
      .then(
        () => killAfter(ms)?.(engine, room),
        () => undefined,
      );
  };
}

/**
 * Runs, one scenario after the other and `width` at a time, until there were so many trials. Run number n of a seed meets
 * the same instants each time, whatever came of the others. What breaks is collected, with its number.
 */
export async function killRuns(
  scenarios: readonly Scenario[],
  { seed, trials, width = 2 }: { readonly seed: number; readonly trials: number; readonly width?: number },
  planOf: (random: () => number, reference: Reference) => Plan,
): Promise<Outcome> {
  const total = { runs: 0, kills: 0, trials: 0, failures: [] as string[] };
  const lane = async (): Promise<void> => {
    while (total.trials < trials && total.runs < trials * 2 + 6) {
      const number = total.runs;
      total.runs += 1;
      const scenario = scenarios[number % scenarios.length];
      if (scenario === undefined) throw new Error('there is nothing to run');
      const reference = await referenceOf(scenario);
      const plan = planOf(createRandom(seed + number * 7_919), reference);
      try {
        const killed = await killRun(scenario, reference, plan.deaths);
        total.kills += killed;
        total.trials += plan.trials(killed);
        if (total.runs % TELL_EVERY === 0) console.log(`${total.trials} of ${trials} trials, ${total.kills} kills`);
      } catch (error) {
        total.trials += 1;
        const why = error instanceof Error ? error.message : String(error);
        total.failures.push(`run ${number} of seed ${seed}, ${scenario.name}: ${why}`);
      }
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return total;
}

async function killRun(scenario: Scenario, reference: Reference, deaths: readonly Death[]): Promise<number> {
  return inRunRoom(scenario, async (room) => {
    const { last, killed } = await driveToEnd(room, [], deaths);
    if (last.signal === null) expect(last.code, `${last.stdout}${last.stderr}`).toBe(reference.exitCode);
    expect(endStateOf(room)).toEqual(reference.end);
    expectUnharmed(room);
    return killed;
  });
}
