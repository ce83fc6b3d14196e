import { expect, it } from 'vitest';
import { asObject } from '../../src/text/json.ts';
import { readAttempts, type AttemptReading } from '../../src/view/read-run.ts';
import { ALL, spread } from '../support/lane.ts';
import { openRunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan, type Entry } from '../runs/run-script.ts';

const MINUTES = 60_000;
const RUNS = ['one', 'two', 'three'];
const TASKS = ['a', 'b', 'c', 'd', 'e', 'f'];
const KILLS = spread(7, 20, 7);
const COST = 0.1;
const CAP = 1.85;

const paid = (entry: Entry): Entry => ({ ...entry, usage: { inputTokens: 10, outputTokens: 10, costUsd: COST } });

/** It is about noon there, so that no day begins meanwhile. */
function zoneAtNoon(): string {
  const east = 12 - new Date().getUTCHours();
  return east === 0 ? 'UTC' : `Etc/GMT${east > 0 ? '-' : '+'}${Math.abs(east)}`;
}

const serve = (limits: object) => ({ serve: { timezone: zoneAtNoon(), limits } });

it(
  `usdPerDay over three runs and ${KILLS} SIGKILLs: passed by no more than the turns that lived then`,
  { ...ALL, timeout: 8 * MINUTES },
  async (test) => {
    const slow = (id: string) => author(id, [{ run: ['sleep', '0.4'] }, ...commits({ [id]: id })]);
    const script = [plan(TASKS.map((id) => piece(id))), ...TASKS.map(slow), APPROVE_ALL].map(paid);
    const bench = openRunBench({ script, settings: serve({ turnsPerDay: 1 }) });
    test.onTestFinished(() => bench.end());
    // The first has its planner's turn, and the others wait for the next day.
    for (const name of RUNS) expect((await bench.runAll(['--no-wait', '--name', name])).code).toBe(4);
    bench.settings(serve({ usdPerDay: CAP }));
    for (let kill = 0; kill < KILLS; kill += 1) {
      const engine = bench.start(['resume', '--all', '--json']);
      const timer = setTimeout(() => engine.child.kill('SIGKILL'), 500 + Math.random() * 2_500);
      await engine.finished;
      clearTimeout(timer);
    }
    // Every run waits for the next day by now: nothing is left to do for this one.
    const last = await bench.start(['resume', '--all', '--json']).finished;
    expect(last.code, last.stderr).toBe(0);
    const again = await bench.start(['resume', '--all', '--json']).finished;
    expect(again.lines.filter(({ type }) => type === 'attempt-taken')).toEqual([]);
    const status = await bench.status();
    expect(status.waitingFor).toMatchObject({ for: 'time' });
    expect(status.sharedLimits?.reachedUntil).toBe(status.sharedLimits?.dayEnds);
    const ledger = bench.ledger();
    const claims = ledger.events({ types: ['attempt-claimed'] });
    const turns = readAttempts(ledger, {}).filter(({ attempt }) => attempt.kind === 'turn');
    ledger.close();
    const { used, live } = atReaching(
      turns,
      new Map(claims.map(({ seq, data }) => [asObject(data)['attemptId'], seq])),
    );
    expect(used).toBeGreaterThanOrEqual(CAP);
    expect(used - CAP).toBeLessThanOrEqual((live + 1) * COST);
    // The check of the ledger, at the end of the bench, has looked at each claim.
    expect(turns.length).toBeGreaterThan(CAP / COST);
  },
);

/** All that was used in the end, and how many turns lived when the limit was reached: after that none was claimed. */
function atReaching(turns: readonly AttemptReading[], claims: ReadonlyMap<unknown, number>) {
  const ends = turns.map(({ attempt, settlement }) => ({
    claimed: claims.get(attempt.id) ?? 0,
    ended: settlement?.seq ?? Infinity,
    // A turn that was lost counts as one that cost as much as any other, unless its agent never ran.
    cost: settlement?.result.usage?.costUsd ?? (attempt.process === null ? 0 : COST),
  }));
  const inOrder = ends.toSorted((one, other) => one.ended - other.ended);
  let sum = 0;
  const reached = inOrder.find(({ cost }) => (sum += cost) >= CAP - 1e-9)?.ended ?? Infinity;
  expect(ends.filter(({ claimed }) => claimed > reached)).toEqual([]);
  return {
    used: ends.reduce((total, { cost }) => total + cost, 0),
    live: ends.filter(({ claimed, ended }) => claimed < reached && ended > reached).length,
  };
}
