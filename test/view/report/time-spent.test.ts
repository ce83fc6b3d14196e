import { describe, expect, it } from 'vitest';
import { partition, SPENT_ON, timeSpentOf, type SpentOn } from '../../../src/view/report/time-spent.ts';
import { renderReport } from './render-report.ts';
import { definition, RecordedRun } from './support.ts';

type Spans = Parameters<typeof partition>[0];

/** As slow as can be: looks at each millisecond. */
function counted(spans: Spans, from: number, to: number): Record<string, number> {
  const spent: Record<string, number> = Object.fromEntries(SPENT_ON.map((on) => [on, 0]));
  for (let at = from; at < to; at += 1) {
    const on =
      SPENT_ON.find((one) => spans.some((span) => span.on === one && span.from <= at && at < span.to)) ?? 'squad';
    spent[on] = (spent[on] ?? 0) + 1;
  }
  return { ...spent, all: to - from };
}

describe('where the time of a run went', () => {
  it.each<[string, [SpentOn, number, number][], Partial<Record<SpentOn, number>>]>([
    ['nothing', [], { squad: 100 }],
    [
      'two agents at once count once',
      [
        ['agents', 10, 50],
        ['agents', 30, 60],
      ],
      { agents: 50, squad: 50 },
    ],
    [
      'a check counts where no agent works',
      [
        ['checks', 0, 40],
        ['agents', 20, 60],
      ],
      { checks: 20, agents: 40, squad: 40 },
    ],
    [
      'setup counts where neither agent nor check is',
      [
        ['setup', 0, 100],
        ['checks', 10, 20],
        ['agents', 15, 30],
      ],
      { setup: 80, checks: 5, agents: 15 },
    ],
    [
      'a turn that works while a person is asked',
      [
        ['person', 0, 100],
        ['agents', 0, 30],
      ],
      { person: 70, agents: 30 },
    ],
    [
      'what is outside does not count',
      [
        ['agents', -50, 5],
        ['stopped', 95, 500],
      ],
      { agents: 5, stopped: 5, squad: 90 },
    ],
  ])('%s', (_, given, expected) => {
    const spans = given.map(([on, from, to]) => ({ on, from, to }));
    expect(partition(spans, 0, 100)).toMatchObject(expected);
    expect(partition(spans, 0, 100)).toEqual(counted(spans, 0, 100));
  });

  it('adds up, whatever overlaps', () => {
    let state = 7;
    const below = (most: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state % most;
    };
    for (let round = 0; round < 300; round += 1) {
      const spans = Array.from({ length: below(12) }, () => {
        const from = below(80) - 10;
        return { on: SPENT_ON[below(SPENT_ON.length - 1)] ?? 'agents', from, to: from + below(40) };
      });
      expect(partition(spans, 5, 60)).toEqual(counted(spans, 5, 60));
    }
  });

  it('comes from turns, checks, waits and segments, and is said in the report in parts that add up', () => {
    const run = new RecordedRun(definition()).allocate();
    const began = run.clock.time;
    const attempt = (id: string, kind: 'turn' | 'check', agent: string, ms: number): void => {
      run.work(id, { kind, agent, ms });
    };
    attempt('plan-1', 'turn', 'ada', 61_000);
    attempt('setup-1', 'check', 'squad-setup', 20_000);
    attempt('verify-1', 'check', 'squad-verify', 30_000);
    run.decide('ask', 'Which port?');
    run.clock.time += 600_000;
    run.decide('start', 'an answer');
    run.clock.time += 9_000;
    run.ledger.releaseLease(run.lease);
    run.clock.time += 3_600_000;
    run.lease = run.ledger.acquireLease(run.id, 'next');
    // An engine that was gone settles a turn of an hour ago: the agent had worked five seconds.
    attempt('a-1', 'turn', 'bob', 5_000);
    run.publish();
    run.ledger.releaseLease(run.lease);
    const spent = timeSpentOf(run.read(), run.clock.time + 5);
    expect(spent).toMatchObject({ agents: 66_000, setup: 20_000, checks: 30_000, person: 600_000, stopped: 3_600_000 });
    expect(spent.all).toBe(run.clock.time - began);
    expect(SPENT_ON.reduce((sum, on) => sum + spent[on], 0)).toBe(spent.all);
    const text = renderReport(run.read(), run.clock.time);
    const [, section = ''] = text.split('## Where the time went');
    expect(section).toMatch(/\| agents: at least one worked \| 66 s \| 2 % \|/);
    expect(section).toMatch(/\| waiting for a person \| 10 min 0 s \| \d+ % \|/);
    const percents = [...section.split('**all**')[0]!.matchAll(/(\d+) % \|/g)].map(([, one]) => Number(one));
    expect(percents.reduce((sum, one) => sum + one, 0)).toBe(100);
  });
});
