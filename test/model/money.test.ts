import { fc, test } from '@fast-check/vitest';
import { expect, it } from 'vitest';
import { limitsFromOptions, limitsSchema } from '../../src/model/limits.ts';
import { microUsd, sumUsd, usdOf, wholeMicros } from '../../src/model/money.ts';
import { isReached } from '../../src/model/spending.ts';
import { usageSchema } from '../../src/model/usage.ts';

it.each([
  [0, 0],
  [0.1, 100_000],
  [0.07, 70_000],
  [1.1, 1_100_000],
  [0.1 + 0.2, 300_000],
  [0.000_000_4, 1],
  [0.123_456_5, 123_457],
  [1_000_000, 1_000_000_000_000],
])('USD %d are %d micro-dollars', (usd, micros) => {
  expect(microUsd(usd)).toBe(micros);
});

test.prop([fc.array(fc.nat(2_000_000), { maxLength: 50 })])('no sum of amounts shows a rounding', (micros) => {
  const total = micros.reduce((sum, one) => sum + one, 0);
  const shown = String(sumUsd(micros.map(usdOf)));
  expect(microUsd(Number(shown))).toBe(total);
  expect(shown).toMatch(/^\d+(\.\d{1,6})?$|e-\d$/);
});

test.prop([fc.integer({ min: 0, max: 1e12 }), fc.integer({ min: 1, max: 1e12 })])(
  'a limit is reached exactly when the micro-dollars are, as people write both',
  (used, most) => {
    expect(isReached('usd', Number((used / 1e6).toFixed(6)), Number((most / 1e6).toFixed(6)))).toBe(used >= most);
  },
);

it('is rounded once, where it is read: from a runtime, from squad.yaml and from a flag', () => {
  const counts = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 0 };
  expect(usageSchema.parse({ ...counts, costUsd: 0.1 + 0.2 }).costUsd).toBe(0.3);
  expect(limitsSchema.parse({ usd: 0.1 + 0.7 }).usd).toBe(0.8);
  expect(limitsFromOptions({ maxUsd: 1e-9 }).usd).toBe(wholeMicros(1e-9));
});
