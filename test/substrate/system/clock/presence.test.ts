import { describe, expect, it } from 'vitest';
import { createPresence, PRESENT_MS } from '../../../../src/substrate/system/clock/system-clock.ts';
import { createRandom } from '../../../support/random.ts';

describe('the time in which a process runs', () => {
  it.each([
    ['a process that is on time', [1_000, 1_000, 1_000], 0],
    ['one that has much to do', [3_000, 6_000, 1_000], 0],
    ['one that is stopped for two minutes', [1_000, 121_000, 1_000], 120_000],
    ['one that is stopped twice', [61_000, 1_000, 31_000], 90_000],
    ['one that looks more often', [1, 1, 1, 500], 0],
  ])('leaves out what it stood still: %s', (_, gaps, absent) => {
    let now = 40;
    const presence = createPresence(() => now);
    for (const gap of gaps) {
      now += gap;
      presence.time();
    }
    expect(presence.absentMs()).toBe(absent);
    expect(presence.time()).toBe(now - absent);
  });

  it('never goes back, whenever it is asked for', () => {
    const random = createRandom(29);
    let now = 0;
    const presence = createPresence(() => now);
    for (let last = presence.time(), round = 0; round < 2_000; round += 1) {
      now += random() < 0.1 ? random() * 100_000 : random() * PRESENT_MS * 2;
      const time = presence.time();
      expect(time).toBeGreaterThanOrEqual(last);
      last = time;
    }
  });
});
