import { describe, expect, it } from 'vitest';
import { decideLiveness, type Activity, type TurnKind } from '../../src/rules/liveness.ts';

const QUIET: Activity = {
  ...{ spawnedAt: 1_000, lastSignAt: null, firstToolAt: null, stalledAt: null, quietSince: null, stalls: 0 },
};
const GATE = { ms: 5_000, fallbacks: ['retry', 'fail'] as const };
const NOTHING = { do: 'nothing' };
const STALL = { do: 'stall', since: 1_000 };
const CLEAR = { do: 'clear-stall' };

function decide(more: Partial<Activity>, now: number, kind: TurnKind = 'author') {
  return decideLiveness({ ...QUIET, ...more }, kind, now, GATE);
}

describe('whether a turn has stalled', () => {
  it.each<[string, Partial<Activity>, number, TurnKind, object]>([
    ['not before it was started', { spawnedAt: null }, 99_000, 'author', NOTHING],
    ['not, if it may answer from its brief alone', {}, 99_000, 'author-without-files', NOTHING],
    ['not, a moment before its time is over', {}, 5_999, 'author', NOTHING],
    ['when its time is over', {}, 6_000, 'author', STALL],
    ['as a review too', {}, 6_000, 'review', STALL],
    ['not, while a sign came in time', { lastSignAt: 3_000 }, 7_999, 'author', NOTHING],
    ['from its last sign on', { lastSignAt: 3_000 }, 8_000, 'author', { do: 'stall', since: 3_000 }],
    ['from its start on, if the sign is older', { lastSignAt: 10 }, 6_000, 'author', STALL],
    ['not, after a tool', { firstToolAt: 2_000 }, 99_000, 'author', NOTHING],
    ['no more, after a tool', { firstToolAt: 7_000, stalledAt: 6_000, quietSince: 1_000 }, 7_000, 'author', CLEAR],
    ['no more, a moment after a sign', { lastSignAt: 6_001, stalledAt: 6_000 }, 6_501, 'author', CLEAR],
    ['still, until that moment is over', { lastSignAt: 6_001, stalledAt: 6_000 }, 6_500, 'author', NOTHING],
    ['still, by a sign of the same moment', { lastSignAt: 6_000, stalledAt: 6_000 }, 10_999, 'author', NOTHING],
    ['still, before its second time is over', { stalledAt: 6_000 }, 10_999, 'author', NOTHING],
    [
      'so long that a fallback follows',
      { stalledAt: 6_000, stalls: 1 },
      11_000,
      'author',
      { do: 'fall-back', fallback: 'retry' },
    ],
    [
      'so often that the next one follows',
      { stalledAt: 6_000, stalls: 2 },
      11_000,
      'author',
      { do: 'fall-back', fallback: 'fail' },
    ],
  ])('%s', (_name, more, now, kind, expected) => expect(decide(more, now, kind)).toMatchObject(expected));

  it('and what people read of it', () => {
    expect(decide({}, 6_000)).toMatchObject({ why: 'no tool for 5 s' });
    const cleared = { stalledAt: 6_000, quietSince: 1_000 };
    expect(decide({ ...cleared, firstToolAt: 7_000 }, 8_000)).toMatchObject({ why: 'its tool came after 7 s' });
    expect(decide({ ...cleared, lastSignAt: 7_000 }, 8_000)).toMatchObject({ why: 'a sign of life came after 6 s' });
    const unknown = { stalledAt: 6_000 };
    expect(decide({ ...unknown, firstToolAt: 7_000 }, 8_000)).toMatchObject({ why: 'its tool came' });
    expect(decide({ ...unknown, lastSignAt: 7_000 }, 8_000)).toMatchObject({ why: 'a sign of life came' });
  });
});
