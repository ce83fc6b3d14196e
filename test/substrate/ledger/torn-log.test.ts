import { expect, test } from 'vitest';
import { SPREAD, spread } from '../../support/lane.ts';
import { tearLogs } from '../../support/torn-log.ts';

const TRIALS = spread(10, 200);
const SEED = 5;

test(
  'T5 a write-ahead log that is cut or garbled anywhere leaves a prefix, with all that was acknowledged before',
  SPREAD,
  () => {
    const { failures, shorter } = tearLogs(TRIALS, SEED);
    console.log(`${shorter} of ${TRIALS} torn logs lost what came after the tear, and nothing else`);
    expect(failures).toEqual([]);
    expect(shorter).toBeGreaterThan(TRIALS / 2);
  },
);
