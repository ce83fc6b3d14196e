import { expect, it } from 'vitest';
import { engineTime } from '../../../src/graph/decisions/engine-time.ts';

const released = { epoch: 1, acquiredAt: 1_000, seenAt: 2_000, releasedAt: 4_000, parked: null };
const killed = { epoch: 2, acquiredAt: 10_000, seenAt: 12_000, releasedAt: null, parked: null };
const current = { epoch: 3, acquiredAt: 50_000, seenAt: 51_000, releasedAt: null, parked: null };

const over = { ms: 300, from: 1_500, to: 2_500 };
const still = { ms: 0, from: 52_000, to: null };

it.each([
  ['one that was given back, to its end', [released], null, 99_000, 3_000],
  ['one that was killed, to its last sign of life', [killed], null, 99_000, 2_000],
  ['the one that drives now, until now', [current], 3, 60_000, 10_000],
  ['all of them, and not the time between', [released, killed, current], 3, 60_000, 15_000],
  ['nothing of a clock that was set back', [current], 3, 40_000, 1_000],
  ['what it was parked for', [{ ...released, parked: over }], null, 99_000, 1_700],
  ['no parked time after its end', [{ ...released, parked: { ...over, to: 80_000 } }], null, 99_000, 200],
  ['one that is parked now, as if it stood still', [{ ...current, parked: still }], 3, 90_000, 2_000],
  ['one that was killed while it was parked', [{ ...killed, parked: { ...still, from: 11_000 } }], null, 99_000, 1_000],
  ['nothing of a park that began after the last sign of life', [{ ...killed, parked: still }], null, 99_000, 2_000],
] as const)('%s', (_what, segments, epoch, now, expected) => {
  expect(engineTime(segments, epoch, now)).toBe(expected);
});
