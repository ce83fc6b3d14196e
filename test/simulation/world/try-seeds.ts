import { brokenPromises } from './broken-promises.ts';
import { historyHash } from './history-hash.ts';
import { seededPlan } from './seeded-plan.ts';
import { runWorld, type WorldEnd } from './simulated-world.ts';

export interface Tried {
  readonly engines: number;
  readonly failures: readonly Error[];
}

/**
 * Each seed's world once; every fifth of them again, which has to make the very same history; and each whose crashes must
 * change nothing (every fifth, too) without them.
 */
export async function trySeeds(
  seeds: { readonly from: number; readonly count: number },
  size: 'small' | 'large',
  command: (seed: number) => string,
): Promise<Tried> {
  const failures: Error[] = [];
  let engines = 0;
  for (let seed = seeds.from; seed < seeds.from + seeds.count; seed += 1) {
    try {
      engines += await trySeed(seed, size, seeds.count === 1);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      failures.push(new Error(`seed ${seed} (${command(seed)}): ${message}`, { cause: error }));
    }
  }
  return { engines, failures };
}

async function trySeed(seed: number, size: 'small' | 'large', alone: boolean): Promise<number> {
  const plan = seededPlan(seed, size);
  const world = await runWorld(plan);
  const broken = brokenPromises(world);
  if (broken.length > 0) throw new Error(broken.join('\n'));
  if (alone || seed % 10 === 0) {
    const again = await runWorld(plan);
    if (historyHash(again.history) !== historyHash(world.history)) throw new Error(firstDifference(world, again));
  }
  if (plan.timeless && plan.crashes.length > 0 && (alone || seed % 5 === 1)) {
    const calm = await runWorld({ ...plan, crashes: [] });
    const [crashed, uncrashed] = [endOf(world), endOf(calm)];
    if (crashed !== uncrashed) throw new Error(`it ended otherwise than without crashes:\n${crashed}\n${uncrashed}`);
  }
  return world.engines;
}

function endOf({ end, reading }: WorldEnd): string {
  const tasks = [...reading.board.tasks.values()].map(({ task, work }) => {
    const { phase } = work;
    return `${task.id}: ${phase.at === 'ended' ? phase.as : phase.at}, round ${work.round}`;
  });
  return [end.end === 'finished' ? end.outcome : end.end, ...tasks].join('; ');
}

function firstDifference(one: WorldEnd, other: WorldEnd): string {
  const index = one.history.events.findIndex(
    (event, at) => JSON.stringify(event) !== JSON.stringify(other.history.events[at]),
  );
  const at = index === -1 ? one.history.events.length : index;
  const [a, b] = [one, other].map(({ history }) => JSON.stringify(history.events[at]));
  return `the same seed made another history:\n${a}\n${b}`;
}
