import { expect, it } from 'vitest';
import { setBackSince, watchClock } from '../../src/engine/watch-run.ts';

it('tells a clock that was set back from one that goes on, is set forward, or is kept right by small steps', () => {
  let [wall, running] = [1_000_000, 5_000];
  const look = watchClock({ now: () => wall, monotonic: () => running });
  const pass = (ms: number, step = 0): number => {
    running += ms;
    wall += ms + step;
    return look();
  };
  expect(pass(2_000)).toBe(0);
  expect(pass(2_000, -60_000)).toBe(60_000);
  expect(pass(2_000)).toBe(0);
  // Forward, as after a sleep of the machine; and back by as much.
  expect(pass(2_000, 3_600_000)).toBe(0);
  expect(pass(2_000, -3_600_000)).toBe(3_600_000);
  // Small steps are told once they come to something.
  expect(pass(2_000, -600)).toBe(0);
  expect(pass(2_000, -600)).toBe(1_200);
  expect(pass(2_000)).toBe(0);
});

it('sees that it was set back while nobody looked', () => {
  expect(setBackSince(10_000, 12_000)).toBe(0);
  expect(setBackSince(10_000, 9_500)).toBe(0);
  expect(setBackSince(10_000, 4_000)).toBe(6_000);
});
