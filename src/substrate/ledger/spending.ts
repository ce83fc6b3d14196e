import { LIMITS_RECORD, readLimits } from '../../model/shared-limits.ts';
import { ACCOUNT_TIMER, type SharedUse } from '../../model/shared-spending.ts';
import type { Spending, Use } from '../../model/spending.ts';
import { usdOf } from '../../model/money.ts';
import { dayOf, isIn } from '../../text/day.ts';
import type { Totals } from '../ports/ledger.ts';
import { lastSeq } from './events.ts';
import { findRecord } from './records.ts';
import { corruptDatabase } from './sqlite-errors.ts';
import type { Store, Tally } from './store.ts';
import { newTally, spentBy, useOf, type Turns } from './turn-sums.ts';

/** `+` keeps SQLite from using the index by run, which reads all rows of the run: only a few are new. */
const OF_RUN = { claimed: '+run_id = ?', settled: '+attempt.run_id = ?' };
const OF_DAY = {
  claimed: 'claimed_at >= ? AND claimed_at < ?',
  settled: 'attempt.claimed_at >= ? AND attempt.claimed_at < ?',
};

/** Other runs that wait for an account. What such a run found out holds as long as its timer, whether an engine has it or not. */
const AT_LIMIT = `FROM timer WHERE due_at > ? AND run_id <> ? AND id GLOB '${ACCOUNT_TIMER}*'`;

/** The only question on the way of a turn of a run that shares nothing: such limits, or another run of the present engine or at a limit. */
const SHARES = `SELECT EXISTS (SELECT 1 FROM record WHERE kind = '${LIMITS_RECORD.kind}' AND id = '${LIMITS_RECORD.id}')
  OR EXISTS (SELECT 1 FROM lease WHERE released_at IS NULL AND acquired_at >= ? AND run_id <> ?)
  OR EXISTS (SELECT 1 ${AT_LIMIT})`;

/** The use of the turns of a run, by agent and task, and of all runs together where that is limited. */
export function readSpending(store: Store, runId: string, until?: number): Spending {
  const turns = { key: runId, where: OF_RUN, bound: [runId] };
  const { all, agents, tasks, largest } = spentBy(store, turns, until ?? lastSeq(store));
  const use = (tally: Tally | undefined): Use => useOf(tally ?? newTally(), largest);
  const about = [store.engineSince, runId, store.clock.now(), runId] as const;
  const isShared = until === undefined && store.value<number>(SHARES, ...about) === 1;
  const shared = isShared ? { shared: sharedBy(store, runId) } : {};
  return { run: use(all), agent: (name) => use(agents.get(name)), task: (id) => use(tasks.get(id)), ...shared };
}

function sharedBy(store: Store, runId: string): SharedUse {
  const use = readShared(store) ?? { ...UNLIMITED, live: turnsAtWork(store) };
  return { ...use, limited: limitedFor(store, runId) };
}

/** The accounts at a limit that other runs found out, and until when. */
function limitedFor(store: Store, runId: string): ReadonlyMap<string, number> {
  const sql = `SELECT id, max(due_at) AS until ${AT_LIMIT} GROUP BY id`;
  const found = store.all<{ id: string; until: number }>(sql, store.clock.now(), runId);
  return new Map(found.map(({ id, until }) => [id.slice(ACCOUNT_TIMER.length), until]));
}

/** The turns of a run and what they used. A turn whose agent never ran is none: a crash before its start costs no turn. */
export function readTotals(store: Store, runId: string): Totals {
  const turns = { key: runId, where: OF_RUN, bound: [runId] };
  const { ms: _, unknown: __, microUsd, ...totals } = spentBy(store, turns, lastSeq(store)).all;
  return { ...totals, costUsd: usdOf(microUsd) };
}

/** Runs at work at once share their turns all the same. */
const UNLIMITED = {
  ...{ timezone: 'UTC', limits: {}, day: { from: 0, until: 0 } },
  ...{ usd: 0, turns: 0, unknownCost: 0, runs: 0, limited: new Map<string, number>(), hasBegun: () => true },
};

/** The use of all runs, where it is limited; undefined: there are none. `engineSince`: see `turnsAtWork`. */
export function readShared(store: Store, engineSince = store.engineSince): SharedUse | undefined {
  const { kind, id } = LIMITS_RECORD;
  const record = findRecord(store, kind, id);
  if (record === undefined) return undefined;
  const inForce = readLimits(record.value);
  if (inForce === undefined) throw corruptDatabase(store.db.name, 'the limits of all runs are damaged.');
  const { timezone, limits } = inForce;
  const day = dayOf(store.clock.now(), timezone);
  const { all, largest } = spentBy(store, turnsOf(store, day), lastSeq(store));
  const { usd, turns, unknown } = useOf(all, largest);
  const begun = limits.runsPerDay === undefined ? new Map<string, number>() : firstTurns(store);
  return {
    ...{ timezone, limits, day, usd, turns },
    unknownCost: unknown.usd,
    runs: [...begun.values()].filter((at) => isIn(day, at)).length,
    live: turnsAtWork(store, engineSince),
    limited: new Map(),
    hasBegun: (runId) => begun.has(runId),
  };
}

const DAY_KEY = 'day ';

/** A turn counts on the day on which it was claimed, wherever the clock was set since. The sums of other days are forgotten. */
function turnsOf(store: Store, { from, until }: SharedUse['day']): Turns {
  const key = `${DAY_KEY}${from} ${until}`;
  for (const other of store.spent.keys()) {
    if (other.startsWith(DAY_KEY) && other !== key) store.spent.delete(other);
  }
  return { key, where: OF_DAY, bound: [from, until] };
}

/** When each run that had a turn had its first one. */
function firstTurns(store: Store): ReadonlyMap<string, number> {
  const sql = `SELECT run_id AS run, claimed_at AS at, min(claim_seq) FROM attempt WHERE kind = 'turn' GROUP BY run_id`;
  return new Map(store.all<{ run: string; at: number }>(sql).map(({ run, at }) => [run, at]));
}

/**
 * Turns that are not settled, by run. Those of an engine that is gone do not count, or no other run could start before that run is
 * resumed: its lease is older than `engineSince`, when the present engine took the workspace.
 */
function turnsAtWork(store: Store, engineSince = store.engineSince): ReadonlyMap<string, number> {
  const sql = `WITH driven AS (SELECT DISTINCT run_id FROM lease WHERE released_at IS NULL AND acquired_at >= ?)
    SELECT run_id AS run, count(*) AS turns FROM driven JOIN attempt USING (run_id)
    WHERE status IN ('claimed', 'spawned') AND kind = 'turn' GROUP BY run_id`;
  return new Map(store.all<{ run: string; turns: number }>(sql, engineSince).map(({ run, turns }) => [run, turns]));
}
