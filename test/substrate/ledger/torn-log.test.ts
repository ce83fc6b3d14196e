// @module-tag all
import { expect, test } from 'vitest';
import { SPREAD, spread } from '../../support/lane.ts';
import { tearLogs } from '../../support/torn-log.ts';

const TRIALS = spread(10, 200);
const SEED = 5;

test(
  'T5 a write-ahead log that is cut or garbled anywhere leaves a prefix, with all that was acknowledged before, or is refused as it is',
  SPREAD,
  () => {
    const { failures, shorter, refused } = tearLogs(TRIALS, SEED);
    console.log(
      `of ${TRIALS} torn logs ${shorter} lost what came after the tear, and nothing else; ${refused} were refused`,
    );
    expect(failures).toEqual([]);
    expect(shorter + refused).toBeGreaterThan(TRIALS / 2);
    expect(refused).toBeGreaterThan(TRIALS / 4);
  },
);
