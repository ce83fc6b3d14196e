import { expect, it } from 'vitest';
import { readDamaged, readLies } from './fuzz.ts';

it('T13 200 damaged transcripts are read to their end, and completed only with proof', () => {
  const completed = readDamaged(200, 1);
  // A fuzzer that breaks everything proves nothing.
  expect(completed).toBeGreaterThan(10);
  expect(completed).toBeLessThan(150);
});

it('T14 300 lies: no success among them, and a typed reason for each', () => {
  expect(readLies(300, 1)).toBe(0);
});
