import { test } from '@fast-check/vitest';
import { double } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { moneyText, useText } from '../../src/model/amount.ts';

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
    ['usd', 0.0074, 0.005, '0.0074 of 0.005'],
    ['usd', 4.999, 5, '4.999 of 5.00'],
    ['usd', 0.009_999, 0.01, '0.009999 of 0.01'],
    ['usd', 5.004, 5.003, '5.004 of 5.003'],
    ['usd', 5.2, 5, '5.20 of 5.00'],
    ['usd', 0.1 + 0.2, 0.3, '0.30 of 0.30'],
    ['turns', 3, 10, '3 of 10'],
    ['tokens', 1_234_567, 2_000_000, '1234567 of 2000000'],
    ['minutes', 59.9999, 60, '59.9999 of 60'],
    ['minutes', 7.5, 60, '7.5 of 60'],
    ['minutes', 0.001, 60, '0.001 of 60'],
  ] as const)('%s %d with a limit of %d is %s', (cap, used, most, text) => {
    expect(useText({ cap, used, most })).toBe(text);
  });

  const amount = double({ min: 1e-9, max: 1e6, noNaN: true });
  test.prop([amount, amount])('shows what is used on its own side of the limit, and never as nothing', (used, most) => {
    for (const cap of ['usd', 'minutes'] as const) {
      const [shown = ''] = useText({ cap, used, most }).split(' of ');
      expect(Number(shown) >= most).toBe(used >= most);
      expect(Number(shown)).toBeGreaterThan(0);
    }
  });
});
