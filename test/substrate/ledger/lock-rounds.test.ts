// @module-tag all
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ledgerPath } from '../../../src/substrate/ledger/index.ts';
import { allowedMs } from '../../support/busy-machine.ts';
import { lockRounds } from '../../support/lock-rounds.ts';
import { temporaryFolder, violations } from './support.ts';
import { SPREAD, spread } from '../../support/lane.ts';

const ROUNDS = spread(4, 40);

test(
  `T18 four contenders over ${ROUNDS} killed holders under garbage collection: never two, each is followed within a second`,
  { ...SPREAD, timeout: 240_000 },
  async () => {
    const directory = join(temporaryFolder(), '.squad');
    const { takeovers, refusals, harm } = await lockRounds(directory, ROUNDS);
    const refused = Math.max(...refusals);
    const followed = takeovers.toSorted((a, b) => a - b);
    const median = followed[Math.floor(followed.length / 2)] ?? 0;
    console.log(
      `refused within ${refused.toFixed(0)} ms; taken over within ${followed.at(-1)} ms, mostly ${median} ms`,
    );
    expect(harm).toEqual([]);
    expect(takeovers).toHaveLength(ROUNDS - 1);
    expect(refused).toBeLessThan(allowedMs(1_000));
    expect(median).toBeLessThan(allowedMs(1_000));
    // One contender may be without a processor for a while; the chaos lane holds each to the second.
    expect(followed.at(-1)).toBeLessThan(10_000);
    expect(violations(ledgerPath(directory))).toEqual([]);
  },
);
