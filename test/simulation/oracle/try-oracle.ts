import { runWorld } from '../world/simulated-world.ts';
import { differences } from './compare.ts';
import { oraclePlan } from './oracle-plan.ts';
import { SLOW, type TurnSeen, type WorldRecord } from './record.ts';

export interface OracleTried {
  readonly failures: readonly Error[];
  /** Worlds that were run: fewer than were asked for where time was over. */
  readonly worlds: number;
  /** How often each headline came, with its names and numbers left out. */
  readonly headlines: ReadonlyMap<string, number>;
  /** How often each way in which worlds go wrong came. */
  readonly counts: ReturnType<typeof countsOf>;
}

/** Each seed's world once, against the oracle. A failure says how to repeat it. No world is begun after `mostMs`. */
export async function tryOracle(seeds: {
  readonly from: number;
  readonly count: number;
  readonly mostMs: number;
}): Promise<OracleTried> {
  const failures: Error[] = [];
  const headlines = new Map<string, number>();
  const records: WorldRecord[] = [];
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
      records.push(plan.record);
      const found = differences(plan, world);
      if (found.length > 0) throw new Error(found.join('\n'));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      failures.push(new Error(`seed ${seed} (${repeatOf(seed)}): ${message}`, { cause: error }));
    }
  }
  return { failures, worlds, headlines, counts: countsOf(records) };
}

function countsOf(records: readonly WorldRecord[]) {
  const count = (of: (record: WorldRecord) => number): number => records.reduce((sum, record) => sum + of(record), 0);
  const turns = (is: (turn: TurnSeen) => boolean) => count((record) => record.turns.filter(is).length);
  return {
    moved: count(({ moved }) => moved.length),
    words: count(({ words }) => words.length),
    orders: count(({ orders }) => orders.length),
    questions: count(({ questions }) => questions.length),
    judged: turns(({ form }) => form === 'verdicts'),
    open: turns(({ open }) => open.length > 0),
    false: turns(({ wrong }) => wrong !== undefined && wrong !== SLOW),
    failedChecks: count(({ checks }) => checks.filter(({ passed }) => !passed).length),
  };
}

function repeatOf(seed: number): string {
  return `SQUAD_ORACLE_SEED=${seed} SQUAD_ORACLE_SEEDS=1 npx vitest run test/simulation/oracle.test.ts`;
}

function kindOf(headline: string): string {
  if (headline.startsWith('FAILED')) return 'FAILED';
  return headline.replaceAll(/\d+ of \d+/g, 'n of n').replaceAll(/by [\w-]+(?:: [\w, -]+)?/g, 'by …');
}
