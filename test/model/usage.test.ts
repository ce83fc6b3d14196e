import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { wholeMicros } from '../../src/model/money.ts';
import { usageSchema, usageSince, type Usage } from '../../src/model/usage.ts';

const reading = (inputTokens: number, outputTokens: number, more: Partial<Usage> = {}): Usage => ({
  inputTokens,
  cachedInputTokens: 0,
  outputTokens,
  ...more,
});

describe('usageSince', () => {
  it.each<[string, Usage, Usage | undefined, Usage]>([
    ['a first turn', reading(10, 2), undefined, reading(10, 2)],
    ['a second turn', reading(30, 5), reading(10, 2), reading(20, 3)],
    ['nothing used', reading(10, 2), reading(10, 2), reading(0, 0)],
    ['a reset counter', reading(4, 1), reading(10, 2), reading(4, 1)],
    ['a reset that one counter has outgrown already', reading(4, 9), reading(10, 2), reading(4, 9)],
    [
      'money and reasoning',
      reading(2, 2, { costUsd: 0.5, reasoningTokens: 7 }),
      reading(1, 1, { costUsd: 0.25, reasoningTokens: 3 }),
      reading(1, 1, { costUsd: 0.25, reasoningTokens: 4 }),
    ],
    ['money that is not known any more', reading(2, 2), reading(1, 1, { costUsd: 1 }), reading(1, 1)],
    [
      'money that was not known before is counted now',
      reading(2, 2, { costUsd: 1 }),
      reading(1, 1),
      reading(1, 1, { costUsd: 1 }),
    ],
    [
      'money of a session that grows by a tenth',
      reading(2, 2, { costUsd: 0.3 }),
      reading(1, 1, { costUsd: 0.2 }),
      reading(1, 1, { costUsd: 0.1 }),
    ],
    ['reset money', reading(2, 2, { costUsd: 0.1 }), reading(1, 1, { costUsd: 1 }), reading(2, 2, { costUsd: 0.1 })],
  ])('%s', (_, after, before, expected) => {
    expect(usageSince(after, before)).toEqual(expected);
  });

  const readings = fc.record(
    {
      inputTokens: fc.nat(),
      cachedInputTokens: fc.nat(),
      outputTokens: fc.nat(),
      reasoningTokens: fc.nat(),
      costUsd: fc.double({ min: 0, max: 1e6, noNaN: true }),
    },
    { requiredKeys: ['inputTokens', 'cachedInputTokens', 'outputTokens'] },
  ) as fc.Arbitrary<Usage>;

  test.prop([readings, readings])('is never negative and never more than the reading', (after, before) => {
    const used = usageSchema.parse(usageSince(after, before));
    for (const [name, value] of Object.entries(used))
      expect(value).toBeLessThanOrEqual(wholeMicros(after[name as keyof Usage] ?? 0));
  });
});
