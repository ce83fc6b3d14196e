import { describe, expect, test } from 'vitest';
import type { RunLimits } from '../../../src/substrate/ports/ledger.ts';
import { claim, decide, openBench, result, usage, type Bench } from './support.ts';

/** What is said of the claim of a turn under these limits, after one settled turn of the same agent and task. */
function answerTo(limits: RunLimits, more: { id?: string; taskId?: string; sessionKey?: string } = {}): string {
  const bench = openBench();
  decide(bench, claim('a-1', 'a', { sessionKey: 'first' }), claim('b-1', 'b', { sessionKey: 'second' }));
  bench.ledger.settle(bench.lease, 'a-1', result({ usage: usage(10, 0.5), durationMs: 60_000 }));
  const { id = 'a-2', taskId = 'a', ...session } = more;
  const [answer] = decide(bench, claim(id, taskId, { ...session, limits })).claims;
  return answer?.claimed === true ? `number ${answer.number}` : (answer?.reason ?? 'nothing');
}

test.each<[string, RunLimits, Parameters<typeof answerTo>[1], string]>([
  ['no limit', {}, {}, 'number 2'],
  ['another task', {}, { taskId: 'c' }, 'number 1'],
  ['an id that is used', { turns: 1 }, { id: 'a-1' }, 'duplicate'],
  ['a session that lives', { turns: 1 }, { sessionKey: 'second' }, 'session-busy'],
  ['a session that has ended', {}, { sessionKey: 'first' }, 'number 2'],
  ['turns of the run, which count while they live', { turns: 2 }, {}, 'turns'],
  ['turns that are left', { turns: 3 }, {}, 'number 2'],
  ['tokens of the run', { tokens: 10 }, {}, 'tokens'],
  ['money of the run', { usd: 0.5 }, {}, 'usd'],
  ['the first of several', { turns: 2, usd: 0.5, tokens: 10 }, {}, 'turns'],
  ['the run before its agent', { tokens: 10, agent: { turns: 1 }, task: { turns: 1 } }, {}, 'tokens'],
  ['the agent before its task', { agent: { tokens: 10 }, task: { turns: 1 } }, {}, 'agent-tokens'],
  ['minutes of the agent', { agent: { minutes: 1 } }, {}, 'agent-minutes'],
  ['the task', { agent: { turns: 3 }, task: { turns: 1 } }, {}, 'task-turns'],
  ['minutes of the task', { task: { minutes: 1 } }, {}, 'task-minutes'],
  ['another task than the one that is used up', { task: { turns: 1 } }, { taskId: 'c' }, 'number 1'],
  ['minutes of the run, which the engine counts', { minutes: 1 } as RunLimits, {}, 'number 2'],
])('a claim under %s', (_, limits, more, answer) => {
  expect(answerTo(limits, more)).toBe(answer);
});

describe('a lease', () => {
  const seen = ({ ledger }: Bench) => ledger.segments('r').map(({ workedMs, seen: last }) => [workedMs, last]);

  test('keeps what it was told last, and no less of work than before', () => {
    const bench = openBench();
    const { ledger, lease } = bench;
    expect(seen(bench)).toEqual([[0, null]]);
    ledger.renewLease(lease, 50, { boot: 'b', ms: 7 });
    expect(seen(bench)).toEqual([[50, { boot: 'b', ms: 7 }]]);
    ledger.renewLease(lease, 40);
    expect(seen(bench)).toEqual([[50, { boot: 'b', ms: 7 }]]);
    ledger.renewLease(lease, 60, { boot: 'c', ms: 0 });
    expect(seen(bench)).toEqual([[60, { boot: 'c', ms: 0 }]]);
    ledger.releaseLease(lease);
    expect(seen(bench)).toEqual([[60, { boot: 'c', ms: 0 }]]);
    expect(ledger.segments('r')).toMatchObject([{ releasedAt: 1_000_000 }]);
  });

  test('that is given back takes away who can receive, once', () => {
    const bench = openBench();
    const { ledger, lease } = bench;
    const { epoch } = ledger.acquireLease('r', 'next');
    ledger.releaseLease(lease, 9);
    expect(ledger.segments('r')).toMatchObject([{ releasedAt: null }, { epoch, releasedAt: null }]);
  });
});

test('a retry of a step by the same driver is the same step, whatever else it drove', () => {
  const { ledger, lease, first } = openBench();
  const step = { lease, cursor: 0, seq: first, driver: 'd', decisions: [claim('a-1')] };
  const answer = ledger.apply(step);
  // Another cursor or event of the same driver is another step, and is judged as one.
  expect(() => ledger.apply({ ...step, cursor: 7 })).toThrow('this step starts at event 7');
  const more = ledger.append('r', 'poke', null);
  expect(ledger.apply({ ...step, cursor: first, seq: more, decisions: [] })).toEqual({
    ...{ applied: more, claims: [], repeated: false },
  });
  expect(ledger.apply(step)).toEqual({ ...answer, repeated: true });
  expect(ledger.apply({ ...step, driver: 'd' }).claims).toEqual([{ claimed: true, attemptId: 'a-1', number: 1 }]);
});
