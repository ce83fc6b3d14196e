import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { roomFor } from '../../../src/model/shared-spending.ts';
import type { SharedLimits } from '../../../src/model/shared-limits.ts';
import { claimsPastShared } from '../../../src/substrate/ledger/shared-rules.ts';
import { createStore } from '../../../src/substrate/ledger/store.ts';
import { plainJson } from '../../../src/text/json.ts';
import { checkDatabase } from '../../../src/substrate/ledger/index.ts';
import type { ClaimAnswer, Lease } from '../../../src/substrate/ports/ledger.ts';
import type { TurnResult } from '../../../src/model/turn-result.ts';
import { claim, openBench, result, usage, type Bench } from './support.ts';

const DAY = 24 * 3_600_000;
/** Noon in UTC. */
const NOON = 1_000 * DAY + DAY / 2;

function limitedBench(limits: SharedLimits): Bench {
  const bench = openBench();
  bench.clock.time = NOON;
  limit(bench, limits);
  return bench;
}

function limit({ ledger }: Bench, limits: SharedLimits, timezone = 'UTC'): void {
  ledger.writeRecord({ kind: 'limits', id: 'day', value: plainJson({ timezone, limits }) });
}

/** Another run beside `r`, with a lease of the same engine. */
function otherRun({ ledger }: Bench, id: string): Lease {
  ledger.createRun({ id, name: id });
  return ledger.acquireLease(id, 'test');
}

function tryClaim({ ledger }: Bench, lease: Lease, id: string): ClaimAnswer | undefined {
  const seq = ledger.append(lease.runId, 'poke', null);
  const cursor = ledger.run(lease.runId)?.applied ?? 0;
  return ledger.apply({ lease, cursor, seq, driver: `d${seq}`, decisions: [claim(id, id)] }).claims[0];
}

/** What was refused for which reason, or `claimed`. */
function claimed(bench: Bench, lease: Lease, id: string): string {
  const answer = tryClaim(bench, lease, id);
  return answer?.claimed === false ? answer.reason : 'claimed';
}

function take(bench: Bench, lease: Lease, id: string, ended: Partial<TurnResult> = {}): string {
  const answer = claimed(bench, lease, id);
  if (answer !== 'claimed') return answer;
  bench.ledger.markSpawned(lease, id, { pid: 4_000_000, startTime: '1', bootId: 'b', marker: id }, 5);
  bench.ledger.settle(lease, id, result(ended));
  return answer;
}

describe('a claim of any run is held to the limits of all runs', () => {
  it('turnsPerDay', () => {
    const bench = limitedBench({ turnsPerDay: 2 });
    const other = otherRun(bench, 'o');
    const start = [take(bench, bench.lease, 'a'), claimed(bench, other, 'b'), claimed(bench, bench.lease, 'c')];
    expect(start).toEqual(['claimed', 'claimed', 'turnsPerDay']);
    bench.clock.time = NOON + DAY / 2 - 1;
    expect(claimed(bench, other, 'd')).toBe('turnsPerDay');
    bench.clock.time += 1;
    expect([claimed(bench, other, 'e'), claimed(bench, other, 'f'), claimed(bench, bench.lease, 'g')]).toEqual([
      ...['claimed', 'claimed', 'turnsPerDay'],
    ]);
    // A clock that is set back finds the former day as it was, and the next one does not begin anew.
    bench.clock.time -= 2;
    expect(claimed(bench, bench.lease, 'h')).toBe('turnsPerDay');
    bench.clock.time += 4;
    expect(claimed(bench, bench.lease, 'i')).toBe('turnsPerDay');
    expect(checkDatabase(bench.path).violations).toEqual([]);
  });

  it('usdPerDay: a turn counts on the day of its claim; one without a known cost as the largest known of its runtime', () => {
    const bench = limitedBench({ usdPerDay: 1 });
    const other = otherRun(bench, 'o');
    expect(take(bench, bench.lease, 'a', { usage: usage(10, 0.4) })).toBe('claimed');
    expect(take(bench, other, 'b', { usage: usage(10) })).toBe('claimed');
    expect(bench.ledger.sharedUse(0)).toMatchObject({ usd: 0.8, turns: 2, unknownCost: 1 });
    // Claimed before midnight, and settled after it.
    expect(claimed(bench, other, 'late')).toBe('claimed');
    bench.clock.time += DAY;
    bench.ledger.settle(other, 'late', result({ usage: usage(10, 5) }));
    expect(bench.ledger.sharedUse(0)).toMatchObject({ usd: 0, turns: 0 });
    expect(take(bench, other, 'c', { usage: usage(10, 1) })).toBe('claimed');
    expect([claimed(bench, bench.lease, 'd'), claimed(bench, other, 'e')]).toEqual(['usdPerDay', 'usdPerDay']);
    limit(bench, { usdPerDay: 2 });
    expect(claimed(bench, bench.lease, 'f')).toBe('claimed');
  });

  it('runsPerDay counts a run on the day of its first turn; a run that has begun goes on', () => {
    const bench = limitedBench({ runsPerDay: 1 });
    const other = otherRun(bench, 'o');
    expect([claimed(bench, bench.lease, 'a'), claimed(bench, other, 'b')]).toEqual(['claimed', 'runsPerDay']);
    expect(claimed(bench, bench.lease, 'c')).toBe('claimed');
    bench.clock.time += DAY;
    const third = otherRun(bench, 'p');
    expect([claimed(bench, bench.lease, 'd'), claimed(bench, other, 'e')]).toEqual(['claimed', 'claimed']);
    expect([claimed(bench, third, 'f'), claimed(bench, other, 'g')]).toEqual(['runsPerDay', 'claimed']);
    expect(checkDatabase(bench.path).violations).toEqual([]);
  });

  it('parallelTurns: turns at once over all runs that an engine drives', () => {
    const bench = limitedBench({ parallelTurns: 2 });
    const other = otherRun(bench, 'o');
    expect([claimed(bench, bench.lease, 'a'), claimed(bench, other, 'b')]).toEqual(['claimed', 'claimed']);
    expect([claimed(bench, bench.lease, 'c'), claimed(bench, other, 'd')]).toEqual(['parallelTurns', 'parallelTurns']);
    bench.ledger.settle(other, 'b', result());
    expect([claimed(bench, bench.lease, 'e'), claimed(bench, other, 'f')]).toEqual(['claimed', 'parallelTurns']);
    // Its turns may never end: no engine looks after them.
    bench.ledger.releaseLease(bench.lease);
    expect([...(bench.ledger.sharedUse(0)?.live ?? [])]).toEqual([]);
    expect([claimed(bench, other, 'g'), claimed(bench, other, 'h'), claimed(bench, other, 'i')]).toEqual([
      ...['claimed', 'claimed', 'parallelTurns'],
    ]);
    // Of an engine that took the workspace later than that.
    expect([...(bench.ledger.sharedUse(bench.clock.time + 1)?.live ?? [])]).toEqual([]);
  });

  it('a turn whose agent never ran is none', () => {
    const bench = limitedBench({ turnsPerDay: 1 });
    expect(claimed(bench, bench.lease, 'a')).toBe('claimed');
    const failure = { kind: 'never-started' as const, message: 'no', mayHaveActed: false };
    bench.ledger.settle(bench.lease, 'a', result({ outcome: 'failed', failure }));
    expect([claimed(bench, bench.lease, 'b'), claimed(bench, bench.lease, 'c')]).toEqual(['claimed', 'turnsPerDay']);
    expect(checkDatabase(bench.path).violations).toEqual([]);
  });

  it('without such limits, runs of one engine know of each other’s turns, and a run alone of nothing', () => {
    const bench = openBench();
    const own = (): number[] | undefined => {
      const { shared } = bench.ledger.spending('r');
      return shared && [...shared.live.values()];
    };
    expect(own()).toBeUndefined();
    const other = otherRun(bench, 'q');
    expect(own()).toEqual([]);
    claimed(bench, other, 'q-1');
    claimed(bench, bench.lease, 'r-1');
    expect(own()).toEqual([1, 1]);
    const use = bench.ledger.spending('r').shared;
    if (use === undefined) throw new Error('nothing is shared');
    const free = (parallel: number, before = 0): number => roomFor(use, 'r', before, parallel).free;
    expect([free(1), free(2), free(3), free(6), free(6, 1)]).toEqual([0, 0, 1, 4, 3]);
    bench.ledger.releaseLease(other, 0);
    expect(own()).toBeUndefined();
  });

  it('without such limits nothing is said of them', () => {
    const bench = openBench();
    expect([bench.ledger.sharedUse(0), bench.ledger.spending('r').shared]).toEqual([undefined, undefined]);
    limit(bench, {});
    expect(claimed(bench, bench.lease, 'a')).toBe('claimed');
  });
});

it.each<[string, SharedLimits, string]>([
  ['turns', { turnsPerDay: 3 }, 'attempt d was claimed with 3 of 3 turns started today'],
  ['money', { usdPerDay: 0.9 }, 'attempt d was claimed with USD 0.90 of 0.90 used today'],
  ['runs', { runsPerDay: 1 }, 'attempt c was claimed with 1 of 1 runs started today'],
])('the check of the database finds a claim past the limit of a day: %s', (_, limits, message) => {
  const bench = limitedBench({});
  const other = otherRun(bench, 'o');
  for (const id of ['a', 'b', 'c', 'd']) {
    take(bench, id === 'c' ? other : bench.lease, id, { usage: usage(1, 0.3) });
  }
  expect(checkDatabase(bench.path).violations).toEqual([]);
  // As if the limits had been there from the start.
  const db = new Database(bench.path);
  db.exec('DROP TRIGGER event_never_changes');
  const value = JSON.stringify({ timezone: 'UTC', limits });
  db.prepare("UPDATE event SET data = json_set(data, '$.value', json(?)) WHERE type = 'record-written'").run(value);
  const found = claimsPastShared(createStore(db, bench.clock));
  db.close();
  expect(found).toEqual([message]);
});

it('an account at a limit is known to the other runs until its timer is due, also once its run has no engine', () => {
  const bench = openBench();
  const { ledger, lease, clock } = bench;
  const other = otherRun(bench, 'o');
  const wait = (id: string, dueAt: number): void => {
    const seq = ledger.append(lease.runId, 'poke', null);
    const cursor = ledger.run(lease.runId)?.applied ?? 0;
    ledger.apply({ lease, cursor, seq, driver: `d${seq}`, decisions: [{ do: 'set-timer', id, dueAt, data: null }] });
  };
  const limited = (run: string): unknown => [...(ledger.spending(run).shared?.limited ?? [])];
  wait('engine/account/claude', clock.time + 1_000);
  wait('a task', clock.time + 1_000);
  expect([limited(other.runId), limited(lease.runId)]).toEqual([[['claude', clock.time + 1_000]], []]);
  ledger.releaseLease(lease);
  ledger.releaseLease(other);
  expect(limited(other.runId)).toEqual([['claude', clock.time + 1_000]]);
  clock.time += 1_000;
  expect(ledger.spending(other.runId).shared).toBeUndefined();
});
