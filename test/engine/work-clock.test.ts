import { expect, it } from 'vitest';
import { createWorkClock } from '../../src/engine/watch-run.ts';

it('counts working time over all segments, and stands still while the run is suspended', () => {
  let now = 500;
  const clock = createWorkClock({ monotonic: () => now }, 10_000);
  now += 2_000;
  expect([clock.segmentMs(), clock.totalMs()]).toEqual([2_000, 12_000]);
  clock.suspend();
  now += 60_000;
  clock.suspend();
  expect(clock.totalMs()).toBe(12_000);
  clock.resume();
  clock.resume();
  now += 3_000;
  expect([clock.segmentMs(), clock.totalMs()]).toEqual([5_000, 15_000]);
});
