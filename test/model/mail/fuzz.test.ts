import { describe, expect, it } from 'vitest';
import { holdsDraft, MESSAGE_READER } from '../../malformed/messages.ts';
import { SPREAD, spread } from '../../support/lane.ts';
import { check } from './support.ts';
import { GOOD, wire } from './drafts.ts';

const RUNS = spread(1_000, 10_000);

describe(`${RUNS} messages as nobody should send them`, () => {
  it('are refused in the one form, or taken like any other', { ...SPREAD, timeout: 300_000 }, async () => {
    const { failure, made } = await MESSAGE_READER.check({ runs: RUNS, seed: 5 });
    expect(failure).toBeUndefined();
    expect(made).toBe(RUNS);
  });

  it('would be found out: a good one holds, and is taken', () => {
    for (const good of Object.values(GOOD)) {
      holdsDraft(good.by, wire(good));
      expect(check(good.by, wire(good)).ok).toBe(true);
    }
  });
});
