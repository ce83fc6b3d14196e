import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/substrate/system/clock/system-clock.ts';
import { openLedger } from '../../src/substrate/ledger/index.ts';
import type { Ledger } from '../../src/substrate/ports/ledger.ts';
import { openRunBench, statusOf, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan, verdict, type Entry } from './run-script.ts';
import { ALL } from '../support/lane.ts';
import { stateOf } from '../support/state.ts';

const PLANNER = { name: 'planner', role: 'planner', runtime: 'scripted', access: 'read-only' };
const REX = { name: 'rex', role: 'reviewer', runtime: 'scripted', access: 'read-only' };

function builder(name: string, limits?: Readonly<Record<string, number>>) {
  return { name, role: 'builder', runtime: 'scripted', ...(limits === undefined ? {} : { limits }) };
}

/** What nobody tells would count as the most that is known. */
function costing(entry: Entry, costUsd: number): Entry {
  return { ...entry, usage: { costUsd } };
}

function work(id: string, more: Partial<Entry> = {}): Entry {
  return author(id, commits({ [`${id}.txt`]: '{prompt}' }), more);
}

function inLedger<T>(bench: RunBench, read: (ledger: Ledger) => T): T {
  const ledger = openLedger(stateOf(bench.repository), { clock: createSystemClock(), readOnly: true });
  try {
    return read(ledger);
  } finally {
    ledger.close();
  }
}

/** Who took each turn, in the order of the claims. */
function turnsTaken(bench: RunBench): string[] {
  return inLedger(bench, (ledger) =>
    ledger
      .attempts({})
      .filter(({ id, kind }) => kind === 'turn' && ledger.settlement(id)?.result.failure?.kind !== 'never-started')
      .map(({ taskId, agent }) => `${taskId} by ${agent}`),
  );
}

describe.concurrent('limits of agents and tasks', { timeout: 300_000 }, () => {
  it('an agent’s limit moves its work to a colleague, a task’s limit fails that task alone', ALL, async (test) => {
    const bench = openRunBench({
      settings: {
        agents: [PLANNER, builder('bob', { turns: 1 }), builder('cyd'), REX],
        limits: { parallel: 1, task: { usd: 5 } },
      },
      script: [
        costing(plan([piece('a'), piece('b')]), 0.5),
        costing(work('b'), 6),
        costing(work('a'), 0.5),
        costing(verdict('a', ['not yet'], 1), 0.5),
        costing(APPROVE_ALL, 0.5),
      ],
    });
    test.onTestFinished(() => bench.end());
    const ended = await bench.runAll();
    expect(ended.code, ended.stderr).toBe(1);
    // Bob's one turn was for `a`: what comes back from review is a colleague's.
    expect(turnsTaken(bench).filter((turn) => turn.startsWith('a '))).toEqual([
      'a by bob',
      'a by rex',
      'a by cyd',
      'a by rex',
    ]);
    expect(turnsTaken(bench).filter((turn) => turn.startsWith('b '))).toEqual(['b by cyd']);
    const status = await bench.status();
    expect(['a', 'b'].map((id) => statusOf(status, id))).toEqual(['done', 'failed']);
    expect([bench.fileOnBranch('a.txt') === undefined, bench.fileOnBranch('b.txt')]).toEqual([false, undefined]);
    const reached = status.caps.filter((cap) => cap.reached).map(({ level, name, limit }) => [level, name, limit]);
    expect(reached).toEqual([
      ['agent', 'bob', 'turns'],
      ['task', 'b', 'usd'],
    ]);
    const report = await bench.report();
    expect(report).toContain('the task has reached its limit (USD 6.00 of 5.00 used)');
    expect(report).toContain('- Task `b`: USD 6.00 of 5.00 reached');
  });

  it('outlive a SIGKILL as they were: no limit is counted anew', ALL, async (test) => {
    const pieces = [piece('a'), piece('b', { needs: ['a'] }), piece('c', { needs: ['b'] })];
    const bench = openRunBench({
      settings: { agents: [PLANNER, builder('bob', { turns: 2 }), REX] },
      script: [plan(pieces), ...pieces.map(({ id }) => work(id)), APPROVE_ALL],
    });
    test.onTestFinished(() => bench.end());
    const kills = ['graph.applied:6=kill', 'graph.waiting:2=kill', 'attempt.settled=kill'];
    const first = await bench.runAll([], { SQUAD_FAILPOINTS: kills[0] ?? '' });
    expect(first.signal).toBe('SIGKILL');
    for (const kill of kills.slice(1)) await bench.run(['resume', '--json'], { SQUAD_FAILPOINTS: kill });
    const last = await bench.run(['resume', '--json']);
    expect(last.code, last.stderr).toBe(1);
    expect(turnsTaken(bench).filter((turn) => turn.endsWith(' by bob'))).toEqual(['a by bob', 'b by bob']);
    const status = await bench.status();
    expect(['a', 'b', 'c'].map((id) => statusOf(status, id))).toEqual(['done', 'done', 'failed']);
    expect(await bench.report()).toContain('bob has reached its limit (2 of 2 turns used)');
  });

  it('a short time limit stops near it: a turn that goes on gets a tenth of it more', ALL, async (test) => {
    const bench = openRunBench({
      settings: { agents: [PLANNER, builder('bob'), REX], limits: { minutes: 0.1 } },
      script: [plan([piece('a')]), author('a', [{ run: ['sleep', '90'] }])],
    });
    test.onTestFinished(() => bench.end());
    const ended = await bench.runAll();
    expect(ended.code, ended.stderr).toBe(4);
    const { elapsedSeconds, phase } = await bench.status();
    expect(phase).toBe('stopped');
    // Six seconds, a tenth of it, a look every two seconds, and the time that a turn takes to end.
    expect(elapsedSeconds).toBeGreaterThanOrEqual(6);
    expect(elapsedSeconds).toBeLessThan(20);
  });

  it('engine time stands still while all wait for a usage limit', ALL, async (test) => {
    const limit = { kind: 'quota-exhausted', message: 'come back later', retryIn: 8_000 };
    const bench = openRunBench({
      settings: { agents: [PLANNER, builder('bob'), REX] },
      script: [
        plan([piece('a')]),
        author('a', [{ run: ['true'] }, { fail: limit }], { turn: 1 }),
        { turn: 2, steps: work('a').steps },
        APPROVE_ALL,
      ],
    });
    test.onTestFinished(() => bench.end());
    const ended = await bench.runAll();
    expect(ended.code, ended.stderr).toBe(0);
    const { elapsedSeconds, caps } = await bench.status();
    inLedger(bench, (ledger) => {
      const [run] = ledger.runs();
      const segments = ledger.segments(run?.id ?? '');
      const [{ acquiredAt, releasedAt, workedMs } = { acquiredAt: 0, releasedAt: 0, workedMs: 0 }] = segments;
      // All that it stood still for lies within the time until the limit's reset.
      const stood = (releasedAt ?? 0) - acquiredAt - workedMs;
      expect(stood).toBeGreaterThan(500);
      expect(stood).toBeLessThan(9_000);
      expect(elapsedSeconds).toBe(Math.floor(workedMs / 1000));
      expect(caps.find(({ limit: name }) => name === 'minutes')?.used).toBe(workedMs / 60_000);
    });
  });
});
