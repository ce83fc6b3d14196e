import { expect, it } from 'vitest';
import { endsInVain, pauseAfter, type EngineEnd } from '../../../src/rules/service/engine-pause.ts';

const good: EngineEnd = { failed: false, livedMs: 5_000, leftThings: false };

it.each<[title: string, ends: EngineEnd[], pauseMs: number]>([
  ['an engine that did its work', [good], 0],
  ['one that could not start', [{ ...good, failed: true }], 1_000],
  ['one that could not start four times', Array.from({ length: 4 }, () => ({ ...good, failed: true })), 8_000],
  ['one that never starts', Array.from({ length: 20 }, () => ({ ...good, failed: true })), 300_000],
  [
    'one that was killed after an hour',
    [
      { ...good, failed: true },
      { ...good, failed: true, livedMs: 3_600_000 },
    ],
    1_000,
  ],
  [
    'one that left things as they were, twice',
    [
      { ...good, leftThings: true },
      { ...good, leftThings: true },
    ],
    2_000,
  ],
  ['one that did its work after some that did not', [{ ...good, failed: true }, good], 0],
])('%s', (_title, ends, pauseMs) => {
  expect(pauseAfter(ends.reduce((times, end) => endsInVain(times, end), 0))).toBe(pauseMs);
});
