import { runWorld } from '../world/simulated-world.ts';
import { differences } from './compare.ts';
import { oraclePlan } from './oracle-plan.ts';

export interface OracleTried {
  readonly failures: readonly Error[];
  /** Worlds that were run: fewer than were asked for where time was over. */
  readonly worlds: number;
  /** How often each headline came, with its names and numbers left out. */
  readonly headlines: ReadonlyMap<string, number>;
  readonly counts: { readonly moved: number; readonly words: number; readonly orders: number; readonly judged: number };
}

/** Each seed's world once, against the oracle. A failure says how to repeat it. No world is begun after `mostMs`. */
export async function tryOracle(seeds: {
  readonly from: number;
  readonly count: number;
  readonly mostMs: number;
}): Promise<OracleTried> {
  const failures: Error[] = [];
  const headlines = new Map<string, number>();
  const counts = { moved: 0, words: 0, orders: 0, judged: 0 };
  const from = performance.now();
  let worlds = 0;
  for (let seed = seeds.from; seed < seeds.from + seeds.count; seed += 1) {
    if (performance.now() - from > seeds.mostMs) break;
    worlds += 1;
    try {
      const plan = oraclePlan(seed);
      const world = await runWorld(plan);
      const kind = kindOf(world.shown.status.headline ?? 'none');
      headlines.set(kind, (headlines.get(kind) ?? 0) + 1);
      counts.moved += plan.record.moved.length;
      counts.words += plan.record.words.length;
      counts.orders += plan.record.orders.length;
      counts.judged += plan.record.turns.filter(({ form }) => form === 'verdicts').length;
      const found = differences(plan, world);
      if (found.length > 0) throw new Error(found.join('\n'));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      failures.push(new Error(`seed ${seed} (${repeatOf(seed)}): ${message}`, { cause: error }));
    }
  }
  return { failures, worlds, headlines, counts };
}

function repeatOf(seed: number): string {
  return `SQUAD_ORACLE_SEED=${seed} SQUAD_ORACLE_SEEDS=1 npx vitest run test/simulation/oracle.test.ts`;
}

function kindOf(headline: string): string {
  if (headline.startsWith('FAILED'))
    return process.env['DBG'] ? headline.slice(0, 110).replaceAll(/[0-9a-f]{12,40}/g, '#') : 'FAILED';
  return headline.replaceAll(/\d+ of \d+/g, 'n of n').replaceAll(/by [\w-]+(?:: [\w, -]+)?/g, 'by …');
}
