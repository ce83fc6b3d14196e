import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import type { TurnResult } from '../../../src/model/turn-result.ts';
import { checkHistory } from '../../support/ledger-history.ts';
import { teachRowDigest } from '../../../src/substrate/ledger/index.ts';
import type { Json } from '../../../src/text/json.ts';
import { claim, decide, openBench, refusal, result, squadError, usage, violations } from './support.ts';

const IDENTITY = { pid: 7, startTime: '70', bootId: 'b', marker: 'a-1' };

test('one transaction ends an attempt: result, usage, event, status', () => {
  const bench = openBench();
  const { ledger, lease } = bench;
  decide(bench, claim('a-1'));
  const answer = ledger.settle(lease, 'a-1', result({ usage: usage(5, 0.1) }));
  expect(answer).toEqual({ settled: true, seq: ledger.lastSeq() });
  expect(ledger.attempt('a-1')?.status).toBe('settled');
  expect(ledger.settlement('a-1')).toMatchObject({
    seq: ledger.lastSeq(),
    epoch: 1,
    result: result({ usage: usage(5, 0.1) }),
  });
  expect(ledger.settlement('a-1')?.result.usage).toEqual(usage(5, 0.1));
  expect(ledger.events({ after: ledger.lastSeq() - 1 })).toMatchObject([
    { type: 'attempt-settled', cause: null, data: { attemptId: 'a-1', outcome: 'completed', usage: usage(5, 0.1) } },
  ]);
  expect(violations(bench.path)).toEqual([]);
});

test('the same result again changes nothing; another one is recorded once and not applied', () => {
  const bench = openBench();
  const { ledger, lease } = bench;
  decide(bench, claim('a-1'));
  const lost = result({ outcome: 'failed', failure: { kind: 'lost', message: 'gone', mayHaveActed: true } });
  ledger.settle(lease, 'a-1', lost);
  const last = ledger.lastSeq();
  expect(ledger.settle(lease, 'a-1', lost)).toEqual({ settled: false, reason: 'already', lateRecorded: false });
  expect(ledger.lastSeq()).toBe(last);
  const late = result({ usage: usage(9, 3) });
  for (let round = 0; round < 3; round += 1) {
    expect(ledger.settle(lease, 'a-1', late)).toEqual({
      settled: false,
      reason: 'already',
      lateRecorded: true,
    });
  }
  expect(ledger.events({ after: last })).toMatchObject([
    { type: 'late-result', epoch: 1, data: { attemptId: 'a-1', taskId: 'task', result: late } },
  ]);
  expect(ledger.settlement('a-1')?.result.outcome).toBe('failed');
  expect(ledger.totals('r')).toMatchObject({
    turnsLost: 1,
    inputTokens: 0,
    costUsd: 0,
    unknownUsage: 1,
    unknownCost: 1,
  });
  expect(violations(bench.path)).toEqual([]);
});

test('unknown use is counted as unknown, never as zero, and a huge one does not overflow', () => {
  const bench = openBench();
  const { ledger, lease } = bench;
  decide(bench, claim('a-1', 'a'), claim('b-1', 'b'), claim('c-1', 'c'), claim('d-1', 'd'));
  ledger.settle(lease, 'a-1', result());
  ledger.settle(lease, 'b-1', result({ usage: usage(Number.MAX_SAFE_INTEGER) }));
  ledger.settle(lease, 'c-1', result({ usage: usage(Number.MAX_SAFE_INTEGER, 0) }));
  expect(ledger.settlement('a-1')?.result.usage).toBeUndefined();
  expect(ledger.totals('r')).toMatchObject({ turnsSettled: 3, turnsLive: 1, unknownUsage: 1, unknownCost: 2 });
  expect(ledger.totals('r').inputTokens).toBeGreaterThan(1.8e16);
});

test('each count of a turn’s use is a column of its own, and what was not reported is NULL', () => {
  const bench = openBench();
  decide(bench, claim('a-1', 'a'), claim('b-1', 'b'));
  const all = { inputTokens: 7, cachedInputTokens: 3, outputTokens: 2, reasoningTokens: 1, costUsd: 0.5 };
  bench.ledger.settle(bench.lease, 'a-1', result({ usage: all }));
  bench.ledger.settle(bench.lease, 'b-1', result());
  const db = new Database(bench.path, { readonly: true });
  onTestFinished(() => void db.close());
  const columns = 'attempt_id, input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, cost_micro_usd';
  expect(db.prepare(`SELECT ${columns} FROM usage ORDER BY attempt_id`).raw().all()).toEqual([
    ['a-1', 7, 3, 2, 1, 500_000],
    ['b-1', null, null, null, null, null],
  ]);
});

test('a fenced engine cannot settle, spawn or observe', () => {
  const bench = openBench();
  const { ledger, lease } = bench;
  decide(bench, claim('a-1'));
  const next = ledger.acquireLease('r', 'next');
  expect(refusal(() => ledger.settle(lease, 'a-1', result()))).toBe('lease-fenced');
  expect(refusal(() => ledger.markSpawned(lease, 'a-1', IDENTITY, 1))).toBe('lease-fenced');
  expect(refusal(() => ledger.observe(lease, 'a-1', 'session-announced', null))).toBe('lease-fenced');
  expect(ledger.settle(next, 'a-1', result())).toMatchObject({ settled: true });
  expect(violations(bench.path)).toEqual([]);
});

test('an attempt has one process for ever', () => {
  const bench = openBench();
  const { ledger, lease } = bench;
  decide(bench, claim('a-1'));
  ledger.markSpawned(lease, 'a-1', IDENTITY, 5);
  const last = ledger.lastSeq();
  ledger.markSpawned(lease, 'a-1', IDENTITY, 6);
  expect(ledger.lastSeq()).toBe(last);
  expect(ledger.attempt('a-1')).toMatchObject({ status: 'spawned', process: IDENTITY, spawnedAt: 5 });
  expect(refusal(() => ledger.markSpawned(lease, 'a-1', { ...IDENTITY, pid: 8 }, 6))).toBe('unknown-attempt');
  ledger.settle(lease, 'a-1', result());
  expect(refusal(() => ledger.markSpawned(lease, 'a-1', IDENTITY, 7))).toBe('unknown-attempt');
});

test('a fact is kept once per attempt and type, and not after the end', () => {
  const bench = openBench();
  const { ledger, lease } = bench;
  decide(bench, claim('a-1'));
  expect(ledger.observe(lease, 'a-1', 'session-announced', { id: 's' })).toBe(true);
  expect(ledger.observe(lease, 'a-1', 'session-announced', { id: 't' })).toBe(false);
  expect(ledger.observe(lease, 'a-1', 'first-tool', 'Bash')).toBe(true);
  ledger.settle(lease, 'a-1', result());
  expect(ledger.observe(lease, 'a-1', 'too-late', null)).toBe(false);
  expect(refusal(() => ledger.observe(lease, 'a-9', 'first-tool', null))).toBe('unknown-attempt');
  expect(violations(bench.path)).toEqual([]);
});

const NASTY: Json = {
  lc: 1,
  type: 'constructor',
  id: ['langchain_core', 'prompts', 'prompt', 'PromptTemplate'],
  nested: { lc: 2, type: 'undefined' },
  text: '\u0000\ud800 "\n',
};

test("an agent's JSON comes back as plain JSON, whatever it pretends to be", () => {
  const bench = openBench();
  const { ledger, lease } = bench;
  decide(bench, claim('a-1'));
  const structured = JSON.parse(`{"__proto__":{"polluted":true},"rest":${JSON.stringify(NASTY)}}`) as Json;
  ledger.settle(lease, 'a-1', result({ structured }));
  const back = ledger.settlement('a-1')?.result.structured;
  expect(JSON.stringify(back)).toContain('"lc":1');
  expect((back as { rest: Json }).rest).toEqual(NASTY);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test('JSON deeper than SQLite reads is refused before anything is written', () => {
  const bench = openBench();
  decide(bench, claim('a-1'));
  let deep: Json = 1;
  for (let level = 0; level < 20_000; level += 1) deep = [deep];
  const last = bench.ledger.lastSeq();
  expect(refusal(() => bench.ledger.append('r', 'deep', deep))).toBe('bad-input');
  expect(refusal(() => bench.ledger.command('r', 'deep', deep, 'me'))).toBe('bad-input');
  expect(refusal(() => bench.ledger.settle(bench.lease, 'a-1', result({ structured: deep })))).toBe('bad-input');
  expect(bench.ledger.lastSeq()).toBe(last);
});

test('a result of the wrong shape is refused when it is written, not when it is read', () => {
  const bench = openBench();
  decide(bench, claim('a-1'));
  const wrong = { ...result(), outcome: 'fine' } as unknown as TurnResult;
  expect(squadError(() => bench.ledger.settle(bench.lease, 'a-1', wrong))).toMatchObject({
    code: 'bad-input',
    message: expect.stringMatching(/^The result of a turn has the wrong shape: [^]*outcome/),
  });
  expect(bench.ledger.attempt('a-1')?.status).toBe('claimed');
  expect(bench.ledger.settlement('a-1')).toBeUndefined();
});

test.each([
  ['cut short', '{"outcome":"comp', 'settlement of attempt a-1'],
  ['of the wrong shape', '{"outcome":"fine"}', 'settlement of attempt a-1'],
  [
    'changed by one letter',
    JSON.stringify(result({ text: 'dons' })),
    'settlement of attempt a-1 does not match its digest.',
  ],
])('a stored result %s is damage, with the file and the next command', (_, text, what) => {
  const bench = openBench();
  decide(bench, claim('a-1'));
  bench.ledger.settle(bench.lease, 'a-1', result());
  const other = new Database(bench.path);
  teachRowDigest(other);
  other.prepare('UPDATE settlement SET result = ?').run(text);
  other.close();
  const error = squadError(() => bench.ledger.settlement('a-1'));
  expect(error.code).toBe('database-corrupt');
  expect(error.message).toContain(bench.path);
  expect(error.message).toContain(what);
  expect(error.next).toContain('squad db check');
});

test('totals count each turn once, whenever they are asked for, and nothing of a step that was refused', () => {
  const bench = openBench();
  const { ledger, lease } = bench;
  expect(ledger.totals('r')).toMatchObject({ turnsClaimed: 0, turnsLive: 0 });
  decide(bench, claim('a-1', 'a'), claim('b-1', 'b'));
  expect(ledger.totals('r')).toMatchObject({ turnsClaimed: 2, turnsLive: 2 });
  ledger.settle(lease, 'a-1', result({ usage: usage(100, 0.5) }));
  // The caps of the second claim are counted before the name of the third is refused, and all of it with it.
  const capped = claim('d-1', 'd', { limits: { turns: 10 } });
  expect(refusal(() => decide(bench, claim('c-1', 'c'), capped, claim('../e', 'e')))).toBe('bad-input');
  expect(ledger.totals('r')).toMatchObject({ turnsClaimed: 2, turnsSettled: 1, turnsLive: 1, inputTokens: 100 });
  decide(bench, claim('c-1', 'c'));
  ledger.settle(
    lease,
    'b-1',
    result({ outcome: 'failed', failure: { kind: 'lost', message: '', mayHaveActed: true } }),
  );
  expect(ledger.totals('r')).toMatchObject({ turnsClaimed: 3, turnsSettled: 2, turnsLost: 1, turnsLive: 1 });
  expect(ledger.totals('r')).toMatchObject({ inputTokens: 100, costUsd: 0.5, unknownUsage: 1, unknownCost: 1 });
});

test('a turn whose agent never ran counts for no cap, in the totals and for the checker', () => {
  const bench = openBench();
  const { ledger, lease } = bench;
  const unstarted = {
    kind: 'never-started',
    message: 'the engine died before the agent ran',
    mayHaveActed: false,
  } as const;
  decide(bench, claim('a-1', 'a', { limits: { turns: 1 } }));
  expect(ledger.totals('r')).toMatchObject({ turnsClaimed: 1, turnsLive: 1 });
  ledger.settle(lease, 'a-1', result({ outcome: 'failed', failure: unstarted }));
  expect(ledger.totals('r')).toMatchObject({ turnsClaimed: 0, turnsSettled: 0, turnsLive: 0, unknownUsage: 0 });
  expect(decide(bench, claim('a-2', 'a', { limits: { turns: 1 } })).claims).toMatchObject([{ claimed: true }]);
  ledger.settle(lease, 'a-2', result({ usage: usage(5, 0.1) }));
  expect(ledger.totals('r')).toMatchObject({ turnsClaimed: 1, turnsSettled: 1, inputTokens: 5, unknownCost: 0 });
  expect(decide(bench, claim('a-3', 'a', { limits: { turns: 1 } })).claims).toMatchObject([{ claimed: false }]);
  expect(checkHistory(bench.path, { r: [{ since: 0, limits: { turns: 1 } }] })).toEqual([]);
});
