// @module-tag all
import { fc } from '@fast-check/vitest';
import { expect, test } from 'vitest';
import { deliverAll, operations } from '../../../support/mail-deliveries.ts';

/** `npm run test:chaos` makes many more. */
const RUNS = 25;
const MOST_OPERATIONS = 80;

test('T10 repeated, reordered, late and lost: each recipient has each message once, in the order of its sender', () => {
  let made = 0;
  fc.assert(
    fc.property(operations(MOST_OPERATIONS), (steps) => {
      made += steps.length;
      deliverAll(steps);
    }),
    { numRuns: RUNS },
  );
  expect(made).toBeGreaterThan(500);
  console.log(`${made} operations in ${RUNS} runs`);
});
