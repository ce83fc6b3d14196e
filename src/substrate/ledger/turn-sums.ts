import { usdOf } from '../../model/money.ts';
import type { Use } from '../../model/spending.ts';
import type { Spent, Store, Tally } from './store.ts';

const CLAIMED = `
SELECT agent, task_id AS task FROM attempt
WHERE claim_seq > ? AND claim_seq <= ? AND kind = 'turn'`;

/** `acted`: 0 for a turn that had no process, or failed before it could do anything. It cost nothing. */
const SETTLED = `
SELECT attempt.agent, attempt.task_id AS task, attempt.runtime,
  usage.input_tokens AS input, usage.cached_input_tokens AS cached, usage.output_tokens AS output, usage.cost_micro_usd AS microUsd,
  coalesce(json_extract(settlement.result, '$.durationMs'), 0) AS ms,
  settlement.failure IS 'never-started' AS idle, settlement.failure IS 'lost' AS lost,
  attempt.spawned_at IS NOT NULL AND coalesce(json_extract(settlement.result, '$.failure.mayHaveActed'), 1) AS acted
FROM settlement
CROSS JOIN attempt ON attempt.id = settlement.attempt_id
LEFT JOIN usage ON usage.attempt_id = settlement.attempt_id
WHERE settlement.seq > ? AND settlement.seq <= ? AND attempt.kind = 'turn'`;

/** Turns that are added up together. */
export interface Turns {
  /** Under which the store keeps their sums. */
  readonly key: string;
  /** More conditions of the queries for them, and their parameters. */
  readonly where: Readonly<Record<'claimed' | 'settled', string>>;
  readonly bound: readonly (string | number)[];
}

interface Settled {
  readonly agent: string;
  readonly task: string;
  readonly runtime: string;
  readonly input: number | null;
  readonly cached: number | null;
  readonly output: number | null;
  readonly microUsd: number | null;
  readonly ms: number;
  /** 1: its agent never ran, so it is no turn at all. */
  readonly idle: number;
  readonly lost: number;
  readonly acted: number;
}

/** Adds new turns to the known sums. A transaction that fails forgets them (`change`). */
export function spentBy(store: Store, turns: Turns, last: number): Spent {
  const nothing = { seq: 0, all: newTally(), agents: new Map(), tasks: new Map(), largest: new Map() };
  const known: Spent = store.spent.get(turns.key) ?? nothing;
  if (last === known.seq) return known;
  addTurns(store, turns, known, last);
  store.spent.set(turns.key, known);
  return known;
}

export function newTally(): Tally {
  return {
    turnsClaimed: 0,
    turnsSettled: 0,
    turnsLost: 0,
    turnsLive: 0,
    inputTokens: 0,
    cachedInputTokens: 0,
    outputTokens: 0,
    microUsd: 0,
    unknownUsage: 0,
    unknownCost: 0,
    ms: 0,
    unknown: new Map(),
  };
}

function addTurns(store: Store, { where, bound }: Turns, spent: Spent, last: number): void {
  const range = [spent.seq, last, ...bound] as const;
  for (const row of store.all<Pick<Settled, 'agent' | 'task'>>(`${CLAIMED} AND ${where.claimed}`, ...range)) {
    for (const tally of talliesOf(spent, row)) {
      tally.turnsClaimed += 1;
      tally.turnsLive += 1;
    }
  }
  for (const row of store.all<Settled>(`${SETTLED} AND ${where.settled}`, ...range)) addSettled(spent, row);
  spent.seq = last;
}

function talliesOf({ all, agents, tasks }: Spent, { agent, task }: Pick<Settled, 'agent' | 'task'>): Tally[] {
  return [all, entryOf(agents, agent, newTally), entryOf(tasks, task, newTally)];
}

function addSettled(spent: Spent, row: Settled): void {
  const { runtime, input, output, microUsd, acted } = row;
  const tokens = input === null || output === null ? null : input + output;
  const largest = entryOf(spent.largest, runtime, () => ({ tokens: null, microUsd: null }));
  largest.tokens = larger(largest.tokens, tokens);
  largest.microUsd = larger(largest.microUsd, microUsd);
  for (const tally of talliesOf(spent, row)) {
    addTotals(tally, row);
    if (acted === 0) continue;
    const unknown = entryOf(tally.unknown, runtime, () => ({ tokens: 0, microUsd: 0 }));
    if (tokens === null) unknown.tokens += 1;
    if (microUsd === null) unknown.microUsd += 1;
  }
}

function addTotals(totals: Tally, { input, cached, output, microUsd, ms, idle, lost }: Settled): void {
  totals.ms += ms;
  totals.turnsLive -= 1;
  totals.turnsClaimed -= idle;
  totals.turnsSettled += 1 - idle;
  totals.turnsLost += lost;
  totals.inputTokens += input ?? 0;
  totals.cachedInputTokens += cached ?? 0;
  totals.outputTokens += output ?? 0;
  totals.microUsd += microUsd ?? 0;
  if (idle === 1) return;
  if (input === null) totals.unknownUsage += 1;
  if (microUsd === null) totals.unknownCost += 1;
}

function entryOf<V>(map: Map<string, V>, key: string, make: () => V): V {
  const entry = map.get(key) ?? make();
  map.set(key, entry);
  return entry;
}

function larger(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}

/** A turn that did not say what it used counts as the largest known one of its runtime. */
export function useOf(tally: Tally, largest: Spent['largest']): Use {
  const guess = (of: 'tokens' | 'microUsd') => {
    const turns = [...tally.unknown].map(([runtime, { [of]: count }]) => {
      return { runtime, count, each: largest.get(runtime)?.[of] ?? null };
    });
    return {
      extra: turns.reduce((total, { count, each }) => total + count * (each ?? 0), 0),
      unknown: turns.reduce((total, { count }) => total + count, 0),
      blind: turns.filter(({ count, each }) => count > 0 && each === null).map(({ runtime }) => runtime),
    };
  };
  const tokens = guess('tokens');
  const cost = guess('microUsd');
  return {
    minutes: tally.ms / 60_000,
    turns: tally.turnsClaimed,
    usd: usdOf(tally.microUsd + cost.extra),
    tokens: tally.inputTokens + tally.outputTokens + tokens.extra,
    unknown: { tokens: tokens.unknown, usd: cost.unknown },
    blind: { tokens: tokens.blind, usd: cost.blind },
  };
}
