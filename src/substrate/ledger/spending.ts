import type { Spending, Use } from '../../model/spending.ts';
import type { Totals } from '../ports/ledger.ts';
import { lastSeq } from './events.ts';
import type { Spent, Store, Tally } from './store.ts';

/** `+` keeps SQLite from using the index by run, which reads all rows of the run: only a few are new. */
const CLAIMED = `
SELECT agent, task_id AS task FROM attempt
WHERE claim_seq > ? AND claim_seq <= ? AND +run_id = ? AND kind = 'turn'`;

/** `acted`: 0 for a turn that had no process, or failed before it could do anything. It cost nothing. */
const SETTLED = `
SELECT attempt.agent, attempt.task_id AS task, attempt.runtime,
  usage.input_tokens AS input, usage.cached_input_tokens AS cached, usage.output_tokens AS output, usage.cost_usd AS usd,
  coalesce(json_extract(settlement.result, '$.durationMs'), 0) AS ms,
  settlement.failure IS 'never-started' AS idle, settlement.failure IS 'lost' AS lost,
  attempt.spawned_at IS NOT NULL AND coalesce(json_extract(settlement.result, '$.failure.mayHaveActed'), 1) AS acted
FROM settlement
CROSS JOIN attempt ON attempt.id = settlement.attempt_id
LEFT JOIN usage ON usage.attempt_id = settlement.attempt_id
WHERE settlement.seq > ? AND settlement.seq <= ? AND +attempt.run_id = ? AND attempt.kind = 'turn'`;

interface Settled {
  readonly agent: string;
  readonly task: string;
  readonly runtime: string;
  readonly input: number | null;
  readonly cached: number | null;
  readonly output: number | null;
  readonly usd: number | null;
  readonly ms: number;
  /** 1: its agent never ran, so it is no turn at all. */
  readonly idle: number;
  readonly lost: number;
  readonly acted: number;
}

/** The use of the turns of a run, by agent and task. */
export function readSpending(store: Store, runId: string): Spending {
  return spendingOf(spentBy(store, runId));
}

/** The turns of a run and what they used. A turn whose agent never ran is none: a crash before its start costs no turn. */
export function readTotals(store: Store, runId: string): Totals {
  const totals = { ...NO_TOTALS };
  for (const { run } of spentBy(store, runId)) {
    for (const name of TOTALS) totals[name] += run[name];
  }
  return totals;
}

/** Adds new turns to the known sums. In a transaction, which may roll back, they are a layer of their own. */
function spentBy(store: Store, runId: string): Spent[] {
  const known = store.spent.get(runId) ?? nothingSpent();
  const last = lastSeq(store);
  if (last === known.seq) return [known];
  if (store.db.inTransaction) return [known, addTurns(store, runId, nothingSpent(known.seq), last)];
  store.spent.set(runId, addTurns(store, runId, known, last));
  return [known];
}

const NO_TOTALS: Totals = {
  turnsClaimed: 0,
  turnsSettled: 0,
  turnsLost: 0,
  turnsLive: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  costUsd: 0,
  unknownUsage: 0,
  unknownCost: 0,
};
const TOTALS = Object.keys(NO_TOTALS) as (keyof Totals)[];

function nothingSpent(seq = 0): Spent {
  return { seq, run: newTally(), agents: new Map(), tasks: new Map(), largest: new Map() };
}

function newTally(): Tally {
  return { ...NO_TOTALS, ms: 0, unknown: new Map() };
}

function addTurns(store: Store, runId: string, spent: Spent, last: number): Spent {
  const range = [spent.seq, last, runId] as const;
  for (const row of store.all<Pick<Settled, 'agent' | 'task'>>(CLAIMED, ...range)) {
    for (const tally of talliesOf(spent, row)) {
      tally.turnsClaimed += 1;
      tally.turnsLive += 1;
    }
  }
  for (const row of store.all<Settled>(SETTLED, ...range)) addSettled(spent, row);
  spent.seq = last;
  return spent;
}

function talliesOf({ run, agents, tasks }: Spent, { agent, task }: Pick<Settled, 'agent' | 'task'>): Tally[] {
  return [run, entryOf(agents, agent, newTally), entryOf(tasks, task, newTally)];
}

function addSettled(spent: Spent, row: Settled): void {
  const { runtime, input, output, usd, acted } = row;
  const tokens = input === null || output === null ? null : input + output;
  const largest = entryOf(spent.largest, runtime, () => ({ tokens: null, usd: null }));
  largest.tokens = larger(largest.tokens, tokens);
  largest.usd = larger(largest.usd, usd);
  for (const tally of talliesOf(spent, row)) {
    addTotals(tally, row);
    if (acted === 0) continue;
    const unknown = entryOf(tally.unknown, runtime, () => ({ tokens: 0, usd: 0 }));
    if (tokens === null) unknown.tokens += 1;
    if (usd === null) unknown.usd += 1;
  }
}

function addTotals(totals: Tally, { input, cached, output, usd, ms, idle, lost }: Settled): void {
  totals.ms += ms;
  totals.turnsLive -= 1;
  totals.turnsClaimed -= idle;
  totals.turnsSettled += 1 - idle;
  totals.turnsLost += lost;
  totals.inputTokens += input ?? 0;
  totals.cachedInputTokens += cached ?? 0;
  totals.outputTokens += output ?? 0;
  totals.costUsd += usd ?? 0;
  if (idle === 1) return;
  if (input === null) totals.unknownUsage += 1;
  if (usd === null) totals.unknownCost += 1;
}

function entryOf<V>(map: Map<string, V>, key: string, make: () => V): V {
  const entry = map.get(key) ?? make();
  map.set(key, entry);
  return entry;
}

function larger(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}

function spendingOf(layers: readonly Spent[]): Spending {
  const largest = (runtime: string, of: 'tokens' | 'usd'): number | null =>
    layers.reduce<number | null>((most, layer) => larger(most, layer.largest.get(runtime)?.[of] ?? null), null);
  const use = (pick: (spent: Spent) => Tally | undefined): Use => {
    const tallies = layers.flatMap((layer) => pick(layer) ?? []);
    return useOf(tallies, largest);
  };
  return {
    run: use(({ run }) => run),
    agent: (name) => use(({ agents }) => agents.get(name)),
    task: (id) => use(({ tasks }) => tasks.get(id)),
  };
}

function useOf(tallies: readonly Tally[], largest: (runtime: string, of: 'tokens' | 'usd') => number | null): Use {
  const sum = (of: keyof Totals | 'ms'): number => tallies.reduce((total, tally) => total + tally[of], 0);
  const runtimes = [...new Set(tallies.flatMap(({ unknown }) => [...unknown.keys()]))];
  const guess = (of: 'tokens' | 'usd') => {
    const turns = runtimes.map((runtime) => ({
      runtime,
      count: tallies.reduce((total, { unknown }) => total + (unknown.get(runtime)?.[of] ?? 0), 0),
      each: largest(runtime, of),
    }));
    return {
      extra: turns.reduce((total, { count, each }) => total + count * (each ?? 0), 0),
      unknown: turns.reduce((total, { count }) => total + count, 0),
      blind: turns.filter(({ count, each }) => count > 0 && each === null).map(({ runtime }) => runtime),
    };
  };
  const tokens = guess('tokens');
  const usd = guess('usd');
  return {
    minutes: sum('ms') / 60_000,
    turns: sum('turnsClaimed'),
    usd: sum('costUsd') + usd.extra,
    tokens: sum('inputTokens') + sum('outputTokens') + tokens.extra,
    unknown: { tokens: tokens.unknown, usd: usd.unknown },
    blind: { tokens: tokens.blind, usd: usd.blind },
  };
}
