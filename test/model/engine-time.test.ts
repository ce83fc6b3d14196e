import { expect, it } from 'vitest';
import { engineTime } from '../../src/model/spending.ts';

it('is what the holders have worked, and not the time between', () => {
  expect(engineTime([])).toBe(0);
  expect(engineTime([{ workedMs: 3_000 }, { workedMs: 500 }])).toBe(3_500);
});
