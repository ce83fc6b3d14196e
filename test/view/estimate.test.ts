import { describe, expect, it, test } from 'vitest';
import { estimateSchema } from '../../src/model/plan/estimate.ts';
import { medianOf, p90Of } from '../../src/text/quantile.ts';
import { estimateOf, readEstimate, type EstimatedRun } from '../../src/view/estimate.ts';
import { definition, play, RecordedRun } from './report/support.ts';

function run(turns: number, minutes: number, costUsd: number | null, unknownCostTurns = 0): EstimatedRun {
  return { turns, elapsedMs: minutes * 60_000, usage: { costUsd, unknownCostTurns } };
}

describe('an estimate', () => {
  it.each<[string, EstimatedRun[], ReturnType<typeof estimateOf>]>([
    ['of nothing', [], null],
    ['of two runs', [run(1, 1, 1), run(2, 2, 2)], null],
    [
      'of three, whose 90th percentile is the largest',
      [run(9, 1, 3), run(2, 30, 1), run(4, 4, 2)],
      {
        runs: 3,
        turns: { median: 4, p90: 9 },
        minutes: { median: 4, p90: 30 },
        usd: { median: 2, p90: 3 },
        atLeast: false,
      },
    ],
    [
      'between two in the middle',
      [run(1, 1, 1), run(2, 1, 1), run(5, 1, 1), run(8, 1, 2)],
      {
        runs: 4,
        turns: { median: 3.5, p90: 8 },
        minutes: { median: 1, p90: 1 },
        usd: { median: 1, p90: 2 },
        atLeast: false,
      },
    ],
    [
      'with a turn whose cost is unknown',
      [run(1, 1, 1), run(1, 1, 1, 1), run(1, 1, 1)],
      {
        runs: 3,
        turns: { median: 1, p90: 1 },
        minutes: { median: 1, p90: 1 },
        usd: { median: 1, p90: 1 },
        atLeast: true,
      },
    ],
    [
      'with a run whose cost is unknown, which is at least nothing',
      [run(1, 1, 6), run(1, 1, null), run(1, 1, 2)],
      {
        runs: 3,
        turns: { median: 1, p90: 1 },
        minutes: { median: 1, p90: 1 },
        usd: { median: 2, p90: 6 },
        atLeast: true,
      },
    ],
    [
      'without any known cost',
      [run(1, 1, null), run(1, 1, null), run(1, 1, null)],
      { runs: 3, turns: { median: 1, p90: 1 }, minutes: { median: 1, p90: 1 }, usd: null, atLeast: true },
    ],
  ])('%s', (_, runs, expected) => {
    expect(estimateOf(runs)).toEqual(expected);
    if (expected !== null) expect(estimateSchema.parse(expected)).toEqual(expected);
  });

  it('of any runs: the median is between the least and the 90th percentile, which at most a tenth of them exceed', () => {
    for (let count = 1; count <= 40; count += 1) {
      const amounts = Array.from({ length: count }, (_, at) => (at * 7919) % 101);
      const median = medianOf(amounts) ?? Number.NaN;
      const p90 = p90Of(amounts) ?? Number.NaN;
      expect(median).toBeGreaterThanOrEqual(Math.min(...amounts));
      expect(median).toBeLessThanOrEqual(p90);
      expect(amounts).toContain(p90);
      expect(amounts.filter((amount) => amount > p90).length).toBeLessThanOrEqual(count / 10);
    }
    expect([medianOf([]), p90Of([])]).toEqual([null, null]);
  });
});

/** A ledger of `count` runs that ended as done, with the types of events that were read from it. */
function ledgerOf(count: number) {
  const about = definition();
  const recorded = new RecordedRun(about).allocate().plan(play(about).entries).publish().writeEnd();
  recorded.ledger.releaseLease(recorded.lease);
  const own = recorded.ledger.run(recorded.id);
  if (own === undefined) throw new Error('no such run');
  const { newest, segments } = recorded.ledger;
  const row = (n: number) => ({ ...own, id: `run-${n}`, name: `run-${n}` });
  return {
    own,
    runs: () => Array.from({ length: count }, (_, at) => row(at)),
    newest: (_: string, types: readonly string[]) => newest(own.id, types),
    segments: () => segments(own.id),
  };
}

test('an estimate is read from rows of ends: of the same playbook, without the run itself and without forks', () => {
  const { playbook } = definition();
  const parent = { runId: 'x', seq: 1 };
  const read = (count: number, of: Partial<Parameters<typeof readEstimate>[1]> = {}) =>
    readEstimate(ledgerOf(count), { playbook, ...of })?.runs;
  expect([read(2), read(3), read(50)]).toEqual([undefined, 3, 20]);
  expect(read(3, { except: 'run-1' })).toBeUndefined();
  expect(read(9, { playbook: 'another' })).toBeUndefined();
  const forks = ledgerOf(3);
  const isFork = { ...forks, runs: () => forks.runs().map((row) => ({ ...row, parent })) };
  expect(readEstimate(isFork, { playbook })).toBeNull();
  const open = { ...ledgerOf(3), newest: () => undefined };
  expect(readEstimate(open, { playbook })).toBeNull();
});
