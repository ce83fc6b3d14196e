import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { grouped } from '../../src/text/counted.ts';

it('a number is written as in English, whatever it is', () => {
  fc.assert(
    fc.property(fc.oneof(fc.nat(10_000), fc.maxSafeNat()), (count) => {
      expect(grouped(count)).toBe(count.toLocaleString('en-US'));
    }),
  );
  expect([0, 999, 1000, 1_000_000].map(grouped)).toEqual(['0', '999', '1,000', '1,000,000']);
});
