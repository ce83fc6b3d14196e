import type { Spending, Use } from '../../model/spending.ts';
import { lastSeq } from './events.ts';
import type { Spent, Store, Tally } from './store.ts';

/** `+` keeps SQLite from looking by run, which would read all of them; `claim_seq` and `seq` are few after what is known. */
const CLAIMED = `
SELECT agent, task_id AS task FROM attempt
WHERE claim_seq > ? AND claim_seq <= ? AND +run_id = ? AND kind = 'turn'`;

/** Who never had a process, or failed before anything could happen, cost nothing. */
const SETTLED = `
SELECT attempt.agent, attempt.task_id AS task, attempt.runtime,
  usage.input_tokens + usage.output_tokens AS tokens,
  usage.cost_usd AS usd,
  coalesce(json_extract(settlement.result, '$.durationMs'), 0) AS ms,
  settlement.failure IS 'never-started' AS idle,
  attempt.spawned_at IS NOT NULL AND coalesce(json_extract(settlement.result, '$.failure.mayHaveActed'), 1) AS acted
FROM settlement
CROSS JOIN attempt ON attempt.id = settlement.attempt_id
LEFT JOIN usage ON usage.attempt_id = settlement.attempt_id
WHERE settlement.seq > ? AND settlement.seq <= ? AND +attempt.run_id = ? AND attempt.kind = 'turn'`;

interface Settled {
  readonly agent: string;
  readonly task: string;
  readonly runtime: string;
  readonly tokens: number | null;
  readonly usd: number | null;
  readonly ms: number;
  /** Its agent never ran: no turn at all. */
  readonly idle: number;
  readonly acted: number;
}

/**
 * What the turns of a run used, by agent and task. Claims and settlements only ever come to the end, so what was added up
 * before is added to. Within a transaction that lies apart: what is not committed yet may never be.
 */
export function readSpending(store: Store, runId: string): Spending {
  const known = store.spent.get(runId) ?? nothingSpent();
  const last = lastSeq(store);
  if (last === known.seq) return spendingOf([known]);
  if (store.db.inTransaction) return spendingOf([known, addTurns(store, runId, nothingSpent(known.seq), last)]);
  store.spent.set(runId, addTurns(store, runId, known, last));
  return spendingOf([known]);
}

function nothingSpent(seq = 0): Spent {
  return { seq, run: newTally(), agents: new Map(), tasks: new Map(), largest: new Map() };
}

function newTally(): Tally {
  return { turns: 0, ms: 0, tokens: 0, usd: 0, unknown: new Map() };
}

function addTurns({ db }: Store, runId: string, spent: Spent, last: number): Spent {
  const range = [spent.seq, last, runId] as const;
  for (const row of db.prepare<[number, number, string], Pick<Settled, 'agent' | 'task'>>(CLAIMED).all(...range)) {
    for (const tally of talliesOf(spent, row)) tally.turns += 1;
  }
  for (const row of db.prepare<[number, number, string], Settled>(SETTLED).all(...range)) addSettled(spent, row);
  spent.seq = last;
  return spent;
}

function talliesOf({ run, agents, tasks }: Spent, { agent, task }: Pick<Settled, 'agent' | 'task'>): Tally[] {
  return [run, entryOf(agents, agent, newTally), entryOf(tasks, task, newTally)];
}

function addSettled(spent: Spent, row: Settled): void {
  const { runtime, tokens, usd, ms, idle, acted } = row;
  const largest = entryOf(spent.largest, runtime, () => ({ tokens: null, usd: null }));
  largest.tokens = larger(largest.tokens, tokens);
  largest.usd = larger(largest.usd, usd);
  for (const tally of talliesOf(spent, row)) {
    tally.turns -= idle;
    tally.ms += ms;
    tally.tokens += tokens ?? 0;
    tally.usd += usd ?? 0;
    if (acted === 0) continue;
    const unknown = entryOf(tally.unknown, runtime, () => ({ tokens: 0, usd: 0 }));
    if (tokens === null) unknown.tokens += 1;
    if (usd === null) unknown.usd += 1;
  }
}

function entryOf<V>(map: Map<string, V>, key: string, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

function larger(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}

function spendingOf(layers: readonly Spent[]): Spending {
  const largest = (runtime: string, of: 'tokens' | 'usd'): number | null =>
    layers.reduce<number | null>((most, layer) => larger(most, layer.largest.get(runtime)?.[of] ?? null), null);
  const use = (pick: (spent: Spent) => Tally | undefined): Use =>
    useOf(
      layers.flatMap((layer) => pick(layer) ?? []),
      largest,
    );
  return {
    run: use(({ run }) => run),
    agent: (name) => use(({ agents }) => agents.get(name)),
    task: (id) => use(({ tasks }) => tasks.get(id)),
  };
}

function useOf(tallies: readonly Tally[], largest: (runtime: string, of: 'tokens' | 'usd') => number | null): Use {
  const sum = (of: 'turns' | 'ms' | 'tokens' | 'usd'): number => tallies.reduce((total, tally) => total + tally[of], 0);
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
    turns: sum('turns'),
    usd: sum('usd') + usd.extra,
    tokens: sum('tokens') + tokens.extra,
    unknown: { tokens: tokens.unknown, usd: usd.unknown },
    blind: { tokens: tokens.blind, usd: usd.blind },
  };
}
