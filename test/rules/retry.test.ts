import { describe, expect, it } from 'vitest';
import { backoff, decideRetry } from '../../src/rules/retry.ts';
import { FAILURE_KINDS, type FailureKind } from '../../src/model/failure.ts';
import { UNUSED } from './support.ts';

const CAPS = { retries: 2, infrastructure: 5, transient: 8, repairs: 1 };
const NOW = 1_000_000;

function decide(kind: FailureKind, more: { retryAt?: number; acted?: boolean } = {}, used = UNUSED) {
  const { retryAt, acted = true } = more;
  return decideRetry(
    { kind, message: 'm', mayHaveActed: acted, ...(retryAt === undefined ? {} : { retryAt }) },
    used,
    CAPS,
    NOW,
    'a-1',
  );
}

describe('decideRetry', () => {
  it.each<[FailureKind, object]>([
    ['rate-limited', { do: 'wait-for-account', until: NOW + 60_000 }],
    ['overloaded', { do: 'wait-for-account', until: NOW + 60_000 }],
    ['quota-exhausted', { do: 'wait-for-account', until: NOW + 15 * 60_000 }],
    ['server-error', { do: 'retry', burns: 'transient', at: NOW + backoff(0, 5_000, 'a-1'), session: 'same' }],
    ['network', { do: 'retry', burns: 'transient', session: 'same' }],
    ['stalled', { do: 'retry', burns: 'retries', session: 'same' }],
    ['mcp-unavailable', { do: 'retry', burns: 'retries' }],
    ['hook-failed', { do: 'retry', burns: 'retries' }],
    ['protocol', { do: 'retry', burns: 'retries' }],
    ['output-truncated', { do: 'retry', burns: 'retries', session: 'same' }],
    ['context-overflow', { do: 'retry', burns: 'retries', session: 'new' }],
    ['step-limit', { do: 'retry', burns: 'retries' }],
    ['cost-limit', { do: 'retry', burns: 'retries' }],
    ['wall-timeout', { do: 'retry', burns: 'retries' }],
    ['output-flood', { do: 'retry', burns: 'retries' }],
    ['bad-output', { do: 'retry', burns: 'repairs', prompt: 'repair', at: NOW }],
    ['session-not-found', { do: 'retry', burns: 'infrastructure', session: 'new' }],
    ['instructions-changed', { do: 'retry', burns: 'infrastructure', session: 'new' }],
    ['session-busy', { do: 'retry', burns: 'infrastructure', at: NOW + backoff(0, 30_000, 'a-1') }],
    ['crashed', { do: 'retry', burns: 'infrastructure', session: 'same' }],
    ['never-started', { do: 'retry', burns: 'infrastructure' }],
    ['lost', { do: 'retry', burns: 'infrastructure' }],
    ['cancelled', { do: 'retry', burns: 'nothing', at: NOW }],
    ['auth', { do: 'lock-out', kind: 'auth' }],
    ['billing', { do: 'lock-out', kind: 'billing' }],
    ['cli-missing', { do: 'lock-out', kind: 'cli-missing' }],
    ['cli-unsupported', { do: 'lock-out', kind: 'cli-unsupported' }],
    ['sandbox-unavailable', { do: 'lock-out', kind: 'sandbox-unavailable' }],
    ['setting-unsupported', { do: 'lock-out', kind: 'setting-unsupported' }],
    ['setup-failed', { do: 'ask' }],
    ['model-unavailable', { do: 'lock-out', kind: 'model-unavailable' }],
    ['model-refused', { do: 'fail', cause: 'attempts' }],
    ['bad-request', { do: 'fail', cause: 'attempts' }],
    ['not-stopped', { do: 'fail', cause: 'attempts' }],
  ])('%s', (kind, expected) => {
    expect(decide(kind)).toMatchObject(expected);
  });

  it.each([
    ['stalled', 'retries', 'attempts'],
    ['wall-timeout', 'retries', 'limit'],
    ['bad-output', 'repairs', 'bad-output'],
    ['lost', 'infrastructure', 'attempts'],
    ['network', 'transient', 'attempts'],
  ] as const)('%s fails once its %s are used up', (kind, counter, cause) => {
    const used = { ...UNUSED, [counter]: CAPS[counter] };
    expect(decide(kind, {}, used)).toEqual({ do: 'fail', cause });
  });

  it('ends for every kind, whatever is used', () => {
    const spent = { ...UNUSED, retries: 99, infrastructure: 99, transient: 99, repairs: 99 };
    const goOn = FAILURE_KINDS.filter((kind) => decide(kind, {}, spent).do === 'retry');
    expect(goOn).toEqual(['cancelled']);
  });

  it('waits until the stated date, but believes no date beyond eight days', () => {
    expect(decide('quota-exhausted', { retryAt: NOW + 5_000 })).toEqual({ do: 'wait-for-account', until: NOW + 5_000 });
    expect(decide('quota-exhausted', { retryAt: NOW - 5_000 })).toEqual({
      do: 'wait-for-account',
      until: NOW + 60_000,
    });
    expect(decide('quota-exhausted')).toEqual({ do: 'wait-for-account', until: NOW + 900_000 });
    expect(decide('quota-exhausted', { retryAt: NOW * 1e6 })).toEqual({
      do: 'wait-for-account',
      until: NOW + 8 * 86_400_000,
    });
  });

  it('asks the same again where nothing can have happened', () => {
    expect(decide('lost', { acted: false })).toMatchObject({ prompt: 'same' });
    expect(decide('lost')).toMatchObject({ prompt: 'continue' });
  });

  it('doubles its delay up to a quarter of an hour, a fifth more or less', () => {
    const middle = backoff(0, 100_000, 'a-1') / 100_000;
    const delays = [0, 1, 2, 30].map((before) => backoff(before, 5_000, 'a-1'));
    for (const [index, delay] of [5_000, 10_000, 20_000, 900_000].entries()) {
      expect((delays[index] ?? 0) / delay).toBeCloseTo(middle, 3);
    }
    expect(delays).toEqual([0, 1, 2, 30].map((before) => backoff(before, 5_000, 'a-1')));
  });

  it('spreads attempts that failed together over the whole of that', () => {
    const delays = Array.from({ length: 100 }, (_, index) => backoff(0, 10_000, `task-${index}-1`));
    const again = Array.from({ length: 20 }, (_, index) => backoff(0, 10_000, `task-${index + 1}`));
    for (const one of [delays, again]) {
      expect(Math.min(...one)).toBeGreaterThanOrEqual(8_000);
      expect(Math.max(...one)).toBeLessThanOrEqual(12_000);
      expect(Math.max(...one) - Math.min(...one)).toBeGreaterThan(2_500);
    }
    expect(new Set(delays.map((delay) => Math.floor(delay / 400))).size).toBe(10);
  });
});

describe('how long a retry waits', () => {
  it('grows with each failure of its kind, but not for a session that somebody else uses', () => {
    const after = (kind: FailureKind, infrastructure: number) => decide(kind, {}, { ...UNUSED, infrastructure });
    expect(after('session-busy', 3)).toMatchObject({ at: NOW + backoff(0, 30_000, 'a-1') });
    const [first, later] = [after('crashed', 0), after('crashed', 3)].map((one) =>
      one.do === 'retry' ? one.at - NOW : 0,
    );
    expect(first).toBeGreaterThan(0);
    expect(later).toBeCloseTo((first ?? 0) * 8, -2);
    expect(after('session-busy', 5)).toEqual({ do: 'fail', cause: 'attempts' });
  });

  it('grows with each wait for an account, from a minute once its reset has passed', () => {
    const after = (waits: number, more: { retryAt?: number } = {}, kind: FailureKind = 'quota-exhausted') =>
      decide(kind, more, { ...UNUSED, waits });
    const minutes = (count: number) => ({ do: 'wait-for-account', until: NOW + count * 60_000 });
    expect([after(0), after(1), after(2)]).toEqual([minutes(15), minutes(30), minutes(60)]);
    expect([after(0, { retryAt: NOW }), after(1, { retryAt: NOW - 1 })]).toEqual([minutes(1), minutes(2)]);
    expect([after(0, {}, 'rate-limited'), after(2, {}, 'rate-limited')]).toEqual([minutes(1), minutes(4)]);
  });
});
