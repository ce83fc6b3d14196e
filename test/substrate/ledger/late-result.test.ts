import { expect, test } from 'vitest';
import type { LedgerEvent } from '../../../src/model/ledger-event.ts';
import { claim, decide, openBench, refusal, result, squadError, usage, violations, type Bench } from './support.ts';

function lateResults({ ledger }: Bench): LedgerEvent[] {
  return ledger.events({ stream: 'r' }).filter(({ type }) => type === 'late-result');
}

test('what a fenced engine brings after the end is refused, on record once, and not applied', () => {
  const bench = openBench();
  const { ledger, lease } = bench;
  decide(bench, claim('a-1'));
  const next = ledger.acquireLease('r', 'next');
  const lost = result({ outcome: 'failed', failure: { kind: 'lost', message: 'gone', mayHaveActed: true } });
  ledger.settle(next, 'a-1', lost);
  const last = ledger.lastSeq();
  const late = result({ text: 'paid for', usage: usage(9, 3) });
  for (let round = 0; round < 3; round += 1) {
    expect(squadError(() => ledger.settle(lease, 'a-1', late))).toMatchObject({
      code: 'lease-fenced',
      exitCode: 75,
      message: expect.stringContaining('on record'),
      next: expect.stringContaining('squad status r'),
    });
  }
  expect(ledger.lastSeq()).toBe(last + 1);
  expect(lateResults(bench)).toMatchObject([
    { seq: last + 1, cause: null, epoch: null, data: { attemptId: 'a-1', taskId: 'task', result: late } },
  ]);
  expect(ledger.settlement('a-1')?.result).toEqual(lost);
  expect(ledger.settlement('a-1')?.result.usage).toBeUndefined();
  expect(ledger.totals('r')).toMatchObject({ turnsSettled: 1, inputTokens: 0, unknownUsage: 1 });
  expect(violations(bench.path)).toEqual([]);
});

test('what it brings before the end is left to the engine that took over, which finds the same', () => {
  const bench = openBench();
  const { ledger, lease } = bench;
  decide(bench, claim('a-1'));
  const next = ledger.acquireLease('r', 'next');
  const last = ledger.lastSeq();
  expect(refusal(() => ledger.settle(lease, 'a-1', result()))).toBe('lease-fenced');
  expect([ledger.lastSeq(), ledger.attempt('a-1')?.status]).toEqual([last, 'claimed']);
  expect(ledger.settle(next, 'a-1', result())).toMatchObject({ settled: true });
  expect(refusal(() => ledger.settle(lease, 'a-1', result()))).toBe('lease-fenced');
  expect(lateResults(bench)).toEqual([]);
});

test('nothing is kept of a result that counted, of a lease that never was, or of an attempt of another run', () => {
  const bench = openBench();
  const { ledger, lease } = bench;
  decide(bench, claim('a-1'));
  ledger.settle(lease, 'a-1', result());
  ledger.releaseLease(lease, 0);
  ledger.createRun({ id: 'other', name: 'other' });
  const foreign = ledger.acquireLease('other', 'test');
  ledger.releaseLease(foreign, 0);
  const last = ledger.lastSeq();
  expect(refusal(() => ledger.settle(lease, 'a-1', result()))).toBe('lease-fenced');
  expect(refusal(() => ledger.settle({ runId: 'r', epoch: 7 }, 'a-1', result({ text: 'x' })))).toBe('lease-fenced');
  expect(refusal(() => ledger.settle(foreign, 'a-1', result({ text: 'x' })))).toBe('lease-fenced');
  expect(refusal(() => ledger.settle(lease, 'nobody', result({ text: 'x' })))).toBe('lease-fenced');
  expect(ledger.lastSeq()).toBe(last);
  expect(refusal(() => ledger.settle(lease, 'a-1', result({ text: 'given back too early' })))).toBe('lease-fenced');
  expect(lateResults(bench)).toHaveLength(1);
  expect(violations(bench.path)).toEqual([]);
});
