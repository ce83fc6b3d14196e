import { test } from '@fast-check/vitest';
import { double } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { costText, moneyText, tokensUsedText, useText } from '../../src/model/amount.ts';

describe('money', () => {
  it.each([
    [0, 'USD 0.00'],
    [0.0074, 'USD 0.0074'],
    [0.00004, 'USD 0.00004'],
    [0.07, 'USD 0.07'],
    [0.123_456, 'USD 0.1235'],
    [0.0185, 'USD 0.0185'],
    [0.5, 'USD 0.50'],
    [12.3456, 'USD 12.35'],
    [100, 'USD 100.00'],
    [1e-12, 'USD 1e-12'],
  ])('%d is %s', (usd, text) => {
    expect(moneyText(usd)).toBe(text);
  });

  it.each([
    ['usd', 0.0074, 0.005, 'USD 0.0074 of 0.005'],
    ['usd', 4.999, 5, 'USD 4.999 of 5.00'],
    ['usd', 0.009_999, 0.01, 'USD 0.009999 of 0.01'],
    ['usd', 5.004, 5.003, 'USD 5.004 of 5.003'],
    ['usd', 5.2, 5, 'USD 5.20 of 5.00'],
    ['usd', 0.1 + 0.2, 0.3, 'USD 0.30 of 0.30'],
    ['usd', null, 20, 'USD unknown of 20.00'],
    ['turns', 3, 10, '3 of 10 turns'],
    ['tokens', 1_234_567, 2_000_000, '1.23M of 2M tokens'],
    ['tokens', 999, 1_234_567, '999 of 1234567 tokens'],
    ['tokens', null, 1_500_000, 'unknown of 1.5M tokens'],
    ['minutes', 59.9999, 60, '59m59s of 1h00m'],
    ['minutes', 7.5, 60, '7m30s of 1h00m'],
    ['minutes', 0, 60, '0s of 1h00m'],
    ['minutes', 7.5, 60.01, '7.5 min of 60.01 min'],
    ['minutes', 0.001, 60, '0.001 min of 60 min'],
  ] as const)('%s %d with a limit of %d is %s', (cap, used, most, text) => {
    expect(useText({ cap, used, most })).toBe(text);
  });

  it('says that there is more which is unknown', () => {
    expect(useText({ cap: 'usd', used: 1, most: 5, isLeast: true })).toBe('USD 1.00+ of 5.00');
    expect(costText({ costUsd: 1, unknownCostTurns: 2 })).toBe('USD 1.00+');
    expect(tokensUsedText(1_200, 1)).toBe('1.2k+ tokens');
  });

  const amount = double({ min: 1e-9, max: 1e6, noNaN: true });
  test.prop([amount, amount])('shows what is used on its own side of the limit, and never as nothing', (used, most) => {
    for (const cap of ['usd', 'minutes', 'tokens'] as const) {
      const [shown = 0, limit = 0] = useText({ cap, used, most }).split(' of ').map(amountIn);
      expect(shown >= limit).toBe(used >= most);
      expect(shown).toBeGreaterThan(0);
    }
  });
});

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, k: 1_000, M: 1_000_000 };

/** The number in one half of a text, whatever its units. */
function amountIn(text: string): number {
  if (!/\d[smhdkM]/.test(text)) return Number(/[\d.e+-]+/.exec(text)?.[0]);
  return [...text.matchAll(/([\d.]+)([smhdkM])/g)].reduce(
    (sum, [, digits, unit]) => sum + Number(digits) * (UNITS[unit ?? ''] ?? 0),
    0,
  );
}
