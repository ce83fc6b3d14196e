import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { decideLimits, type Caps } from '../../../src/model/spending.ts';
import type { TurnResult } from '../../../src/model/turn-result.ts';
import { openLedger } from '../../../src/substrate/ledger/index.ts';
import type { Decision, RunLimits } from '../../../src/substrate/ports/ledger.ts';
import { checkHistory } from '../../support/ledger-history.ts';
import { spread } from '../../support/lane.ts';
import { decide, openBench, result, usage, type Bench } from './support.ts';

interface Turn {
  readonly id: string;
  readonly task: string;
  readonly agent: string;
  readonly runtime?: string;
  readonly limits?: RunLimits;
}

function claimOf({ id, task, agent, runtime = 'scripted', limits = {} }: Turn): Decision {
  return {
    do: 'claim-attempt',
    attempt: { id, taskId: task, kind: 'turn', agent, runtime, request: '{}' },
    limits,
  };
}

/** Claimed, begun and ended. */
function take(bench: Bench, turn: Turn, ended: Partial<TurnResult>, process = true): void {
  decide(bench, claimOf(turn));
  if (process) bench.ledger.markSpawned(bench.lease, turn.id, processOf(turn.id), 5);
  bench.ledger.settle(bench.lease, turn.id, result(ended));
}

function processOf(marker: string) {
  return { pid: 4_000_000, startTime: '1', bootId: 'b', marker };
}

describe('claims are held to the caps of their agent and task', () => {
  it.each<[string, Caps, string]>([
    ['turns', { turns: 1 }, 'turns'],
    ['tokens', { tokens: 100 }, 'tokens'],
    ['money', { usd: 0.5 }, 'usd'],
    ['minutes of their turns', { minutes: 2 }, 'minutes'],
  ])('on %s', (_what, caps, cap) => {
    const bench = openBench();
    take(bench, { id: 'a-1', task: 'a', agent: 'ada' }, { usage: usage(100, 0.5), durationMs: 120_000 });
    const { claims } = decide(
      bench,
      claimOf({ id: 'b-1', task: 'b', agent: 'ada', limits: { agent: caps } }),
      claimOf({ id: 'a-2', task: 'a', agent: 'bob', limits: { task: caps } }),
      claimOf({ id: 'c-1', task: 'c', agent: 'bob', limits: { agent: caps, task: caps } }),
    );
    expect(claims).toEqual([
      { claimed: false, attemptId: 'b-1', reason: `agent-${cap}` },
      { claimed: false, attemptId: 'a-2', reason: `task-${cap}` },
      { claimed: true, attemptId: 'c-1', number: 1 },
    ]);
  });

  it('two claims of one decision cannot both take the last place', () => {
    const bench = openBench();
    const agent = { agent: { turns: 1 } };
    const task = { task: { turns: 1 } };
    const { claims } = decide(
      bench,
      claimOf({ id: 'a-1', task: 'a', agent: 'ada', limits: agent }),
      claimOf({ id: 'b-1', task: 'b', agent: 'ada', limits: agent }),
      claimOf({ id: 'c-1', task: 'c', agent: 'bob', limits: task }),
      claimOf({ id: 'c-2', task: 'c', agent: 'cyd', limits: task }),
    );
    expect(claims.map((claim) => (claim.claimed ? 'claimed' : claim.reason))).toEqual([
      'claimed',
      'agent-turns',
      'claimed',
      'task-turns',
    ]);
  });

  it('counts nothing of a step that was rolled back', () => {
    const bench = openBench();
    const limits = { agent: { turns: 1 } };
    const stale = { do: 'record', type: 'attempt-claimed', data: null } as const;
    expect(() => decide(bench, claimOf({ id: 'a-1', task: 'a', agent: 'ada', limits }), stale)).toThrow();
    expect(decide(bench, claimOf({ id: 'a-1', task: 'a', agent: 'ada', limits })).claims).toMatchObject([
      { claimed: true },
    ]);
    expect(bench.ledger.spending('r').agent('ada').turns).toBe(1);
  });

  it('says the same to whoever opens the ledger anew', () => {
    const bench = openBench();
    take(bench, { id: 'a-1', task: 'a', agent: 'ada' }, { usage: usage(7, 1) });
    expect(bench.ledger.spending('r').agent('ada').tokens).toBe(7);
    take(bench, { id: 'a-2', task: 'a', agent: 'ada' }, { durationMs: 60_000 });
    const reader = openLedger(bench.directory, { clock: bench.clock, readOnly: true });
    for (const ledger of [bench.ledger, reader]) {
      const { run, agent, task } = ledger.spending('r');
      expect(run).toEqual(agent('ada'));
      expect(task('a')).toEqual(run);
      expect(run).toMatchObject({ turns: 2, tokens: 14, usd: 2, unknown: { tokens: 1, usd: 1 } });
      expect(agent('nobody')).toMatchObject({ turns: 0, tokens: 0, usd: 0, minutes: 0 });
    }
    reader.close();
  });
});

describe('a limit in USD', () => {
  const micros = fc.oneof(fc.constantFrom(100_000, 50_000, 70_000, 10_000, 1), fc.integer({ min: 1, max: 400_000 }));
  const cases = fc.record({
    costs: fc.array(micros, { minLength: 4, maxLength: 30 }),
    most: fc.oneof(fc.constantFrom(1_000_000, 800_000, 300_000, 700_000), fc.integer({ min: 1, max: 2_000_000 })),
    parallel: fc.integer({ min: 1, max: 6 }),
  });

  test.prop([cases], { numRuns: spread(10, 500) })(
    'lets no turn begin once it is reached, beyond those in flight, and the check says the same of each claim',
    ({ costs, most, parallel }) => {
      const bench = openBench();
      const usd = most / 1e6;
      const live: { id: string; cost: number }[] = [];
      const before: number[] = [];
      let spent = 0;
      const end = ({ id, cost }: { id: string; cost: number }): void => {
        bench.ledger.settle(bench.lease, id, result({ usage: usage(1, cost / 1e6) }));
        spent += cost;
      };
      for (const [place, cost] of costs.entries()) {
        const oldest = live.length === parallel ? live.shift() : undefined;
        if (oldest !== undefined) end(oldest);
        const id = `t-${place}`;
        const isSpent = spent >= most;
        expect(decideLimits(bench.ledger.spending('r').run, { usd }, 0).reached).toBe(isSpent);
        const { claims } = decide(bench, claimOf({ id, task: id, agent: 'ada', limits: { usd } }));
        expect(claims[0]?.claimed).toBe(!isSpent);
        if (isSpent) break;
        before.push(spent);
        live.push({ id, cost });
      }
      for (const turn of live) end(turn);
      expect(bench.ledger.totals('r').costUsd).toBe(spent / 1e6);
      const passed = (limit: number) =>
        checkHistory(bench.path, { r: [{ since: 0, limits: { usd: limit / 1e6 } }] }).length;
      expect(passed(most)).toBe(0);
      // A lower limit would have refused some of these turns: the check names each of them.
      for (const limit of new Set(before.flatMap((sum) => [sum, sum + 1]))) {
        if (limit > 0) expect(passed(limit)).toBe(before.filter((sum) => sum >= limit).length);
      }
    },
  );
});

describe('unknown use is not zero', () => {
  it('counts as the largest known turn of its runtime, whichever came first', () => {
    const bench = openBench();
    take(bench, { id: 'a-1', task: 'a', agent: 'ada' }, {});
    take(bench, { id: 'b-1', task: 'b', agent: 'bob' }, { usage: usage(50, 2) });
    take(bench, { id: 'b-2', task: 'b', agent: 'bob' }, { usage: usage(20, 3) });
    take(bench, { id: 'c-1', task: 'c', agent: 'cyd', runtime: 'codex' }, { usage: usage(900) });
    const { run, agent } = bench.ledger.spending('r');
    expect(agent('ada')).toMatchObject({ tokens: 50, usd: 3, unknown: { tokens: 1, usd: 1 } });
    expect(agent('cyd')).toMatchObject({ tokens: 900, usd: 0, blind: { tokens: [], usd: ['codex'] } });
    expect(run).toMatchObject({ turns: 4, tokens: 1_020, usd: 8, unknown: { tokens: 1, usd: 2 } });
    expect(decide(bench, claimOf({ id: 'd-1', task: 'd', agent: 'ada', limits: { usd: 8 } })).claims).toMatchObject([
      { reason: 'usd' },
    ]);
  });

  it('is known by runtime, and named where no turn of a runtime has said anything', () => {
    const bench = openBench();
    const ada = { task: 'a', agent: 'ada' };
    take(bench, { ...ada, id: 'a-1' }, { usage: usage(20, 3), durationMs: 30_000 });
    take(bench, { ...ada, id: 'a-2' }, { durationMs: 30_000 });
    take(bench, { ...ada, id: 'a-3' }, { usage: usage(50, 2) });
    take(bench, { ...ada, id: 'a-4' }, { usage: usage(40, 1) });
    take(bench, { ...ada, id: 'c-1', runtime: 'codex' }, { durationMs: 1 });
    take(bench, { id: 'c-2', task: 'c', agent: 'bob', runtime: 'codex' }, { usage: usage(7), durationMs: 1 });
    take(bench, { id: 'g-1', task: 'c', agent: 'bob', runtime: 'gemini' }, { durationMs: 0 });
    const { run, agent, task } = bench.ledger.spending('r');
    const ofAda = { turns: 5, tokens: 110 + 50 + 7, usd: 6 + 3, minutes: 60_003 / 60_000 };
    const ofBob = { turns: 2, tokens: 7, usd: 0, minutes: 1 / 60_000 };
    expect(agent('ada')).toEqual({
      ...{ ...ofAda, unknown: { tokens: 2, usd: 2 } },
      blind: { tokens: [], usd: ['codex'] },
    });
    expect(task('a')).toEqual(agent('ada'));
    expect(agent('bob')).toEqual({
      ...{ ...ofBob, unknown: { tokens: 1, usd: 2 } },
      blind: { tokens: ['gemini'], usd: ['codex', 'gemini'] },
    });
    expect(task('c')).toEqual(agent('bob'));
    expect(run).toEqual({
      ...{ turns: 7, tokens: ofAda.tokens + 7, usd: 9, minutes: 60_004 / 60_000 },
      ...{ unknown: { tokens: 3, usd: 4 }, blind: { tokens: ['gemini'], usd: ['codex', 'gemini'] } },
    });
    expect(bench.ledger.totals('r')).toEqual({
      ...{ turnsClaimed: 7, turnsSettled: 7, turnsLost: 0, turnsLive: 0, inputTokens: 117, cachedInputTokens: 0 },
      ...{ outputTokens: 0, costUsd: 6, unknownUsage: 3, unknownCost: 4 },
    });
    // As it was at each event.
    const reader = openLedger(bench.directory, { clock: bench.clock, readOnly: true });
    expect([3, 4, 5, 6].map((seq) => reader.spending('r', seq).run)).toMatchObject([
      { turns: 0, tokens: 0, minutes: 0 },
      { turns: 1, tokens: 0, minutes: 0 },
      { turns: 1, tokens: 0, minutes: 0 },
      { turns: 1, tokens: 20, usd: 3, minutes: 0.5 },
    ]);
    expect(reader.spending('r').run).toEqual(run);
    reader.close();
  });

  it('is zero where nothing ever ran, or nothing can have happened', () => {
    const bench = openBench();
    take(bench, { id: 'a-1', task: 'a', agent: 'ada' }, { usage: usage(50, 2) });
    take(bench, { id: 'a-2', task: 'a', agent: 'ada' }, {}, false);
    const refused = { kind: 'rate-limited', message: 'later', mayHaveActed: false } as const;
    take(bench, { id: 'a-3', task: 'a', agent: 'ada' }, { outcome: 'failed', failure: refused });
    expect(bench.ledger.spending('r').run).toMatchObject({ tokens: 50, usd: 2, unknown: { tokens: 0, usd: 0 } });
  });
});
