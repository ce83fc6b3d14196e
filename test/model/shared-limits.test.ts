import { describe, expect, it } from 'vitest';
import { recordLimits } from '../../src/substrate/ledger/record-limits.ts';
import { limitsToRecord, mergeServe, type SharedLimits } from '../../src/model/shared-limits.ts';
import { passedShared, roomFor, type SharedUse } from '../../src/model/shared-spending.ts';
import { runsBefore } from '../../src/graph/turn-line.ts';
import { sharedLimitLines, sharedLimitsView } from '../../src/view/shared-limits.ts';

const DAY = { from: 0, until: 86_400_000 };

function use(limits: SharedLimits, used: Partial<SharedUse> = {}, begun: readonly string[] = []): SharedUse {
  return {
    ...{
      timezone: 'UTC',
      limits,
      day: DAY,
      usd: 0,
      turns: 0,
      runs: 0,
      unknownCost: 0,
      live: new Map<string, number>(),
    },
    ...used,
    limited: new Map(),
    hasBegun: (runId) => begun.includes(runId),
  };
}

describe('what all runs leave to one of them', () => {
  it.each<[string, SharedUse, number, string | undefined]>([
    ['no limits', use({}), Infinity, undefined],
    ['a limit that is far', use({ usdPerDay: 5 }, { usd: 4.999999 }), Infinity, undefined],
    ['money', use({ usdPerDay: 5 }, { usd: 5 }), 0, 'USD 5.00 of 5.00 used today'],
    ['turns left', use({ turnsPerDay: 10 }, { turns: 8 }), 2, undefined],
    ['turns', use({ turnsPerDay: 10 }, { turns: 11 }), 0, '11 of 10 turns started today'],
    ['runs', use({ runsPerDay: 2 }, { runs: 2 }), 0, '2 of 2 runs started today'],
    ['runs, and this one has begun', use({ runsPerDay: 2 }, { runs: 2 }, ['r']), Infinity, undefined],
    [
      'turns at once',
      use(
        { parallelTurns: 3 },
        {
          live: new Map([
            ['r', 1],
            ['o', 1],
          ]),
        },
      ),
      1,
      undefined,
    ],
    ['all turns at once', use({ parallelTurns: 2 }, { live: new Map([['o', 2]]) }), 0, undefined],
    ['more at once than now allowed', use({ parallelTurns: 1 }, { live: new Map([['o', 2]]) }), 0, undefined],
    ['both', use({ turnsPerDay: 9, parallelTurns: 4 }, { turns: 8, live: new Map([['o', 1]]) }), 1, undefined],
  ])('%s', (_, given, free, why) => {
    const room = roomFor(given, 'r');
    expect(room.free).toBe(free);
    expect(room.reached?.why).toEqual(why === undefined ? undefined : (expect.stringContaining(why) as string));
    expect(room.reached?.until).toBe(why === undefined ? undefined : DAY.until);
    // A claim is refused exactly where no turn is left.
    expect(passedShared(given, 'r') === undefined).toBe(free > 0);
  });

  it('runs that wait longer or have fewer turns at work come first, and each only once', () => {
    const line = new Set(['a', 'b']);
    const none = new Map<string, number>();
    expect(['a', 'b', 'c'].map((run) => runsBefore(line, run, none))).toEqual([0, 1, 2]);
    expect(['a', 'b', 'c'].map((run) => runsBefore(line, run, new Map([['a', 1]])))).toEqual([1, 0, 1]);
    line.delete('a');
    expect(['a', 'b', 'c'].map((run) => runsBefore(line, run, none))).toEqual([1, 0, 1]);
    const limits = use({ parallelTurns: 2 }, { live: new Map([['c', 1]]) });
    expect([roomFor(limits, 'c', runsBefore(line, 'c', limits.live)).free, roomFor(limits, 'b').free]).toEqual([0, 1]);
  });
});

describe('what is recorded of the settings', () => {
  const berlin = { timezone: 'Europe/Berlin', limits: { usdPerDay: 5 } };

  it.each([
    ['the first ones', berlin, undefined, berlin],
    ['the same', berlin, berlin, undefined],
    ['another number', { ...berlin, limits: { usdPerDay: 6 } }, berlin, { ...berlin, limits: { usdPerDay: 6 } }],
    ['none any more', { timezone: 'UTC', limits: {} }, berlin, { timezone: 'UTC', limits: {} }],
    ['another zone', { ...berlin, timezone: 'UTC' }, berlin, { ...berlin, timezone: 'UTC' }],
  ])('%s', (_, settings, known, wanted) => expect(limitsToRecord(settings, known)).toEqual(wanted));

  it.each([{ limits: {} }, { timezone: 'UTC', limits: {} }])('nothing where none were and none are: %j', (settings) => {
    const written: unknown[] = [];
    const writeRecord = (record: unknown): undefined => void written.push(record);
    recordLimits({ record: () => undefined, records: () => [], writeRecord }, settings);
    expect(written).toEqual([]);
  });

  it('the zone is the machine’s by default', () => {
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    expect(limitsToRecord({ limits: { turnsPerDay: 1 } }, undefined)).toEqual({
      ...{ timezone: timeZone, limits: { turnsPerDay: 1 } },
    });
  });

  it('a repository lowers a person’s own limits and raises none', () => {
    const own = { timezone: 'UTC', limits: { usdPerDay: 5, turnsPerDay: 10 } };
    const repository = { timezone: 'Asia/Seoul', limits: { usdPerDay: 50, turnsPerDay: 5, parallelTurns: 2 } };
    expect(mergeServe(own, repository)).toEqual({
      ...{ timezone: 'UTC', limits: { usdPerDay: 5, turnsPerDay: 5, parallelTurns: 2 } },
    });
    expect(mergeServe({}, repository)).toEqual(repository);
    expect(mergeServe(own, {})).toEqual(own);
  });
});

describe('what people read', () => {
  it.each<[string, SharedUse, string[]]>([
    ['only runs at once', use({ parallelRuns: 2 }), []],
    [
      'what is left',
      use({ usdPerDay: 5, turnsPerDay: 9, parallelTurns: 2 }, { usd: 1.25, turns: 3, live: new Map([['r', 1]]) }),
      ['USD 1.25 of 5.00 used today · 3 of 9 turns started today · 1 of 2 turns at once'],
    ],
    [
      'no more runs',
      use({ runsPerDay: 1 }, { runs: 1 }),
      [
        '1 of 1 runs started today (reached)',
        expect.stringMatching(/^no further run starts before .*, midnight in UTC$/) as string,
      ],
    ],
    [
      'an unknown cost',
      use({ usdPerDay: 1 }, { usd: 1, unknownCost: 2 }),
      [
        'USD 1.00 of 1.00 used today (reached)',
        'of 2 turns the cost is unknown; each counts as the largest known',
        expect.stringMatching(/^no turn starts before .*, midnight in UTC$/) as string,
      ],
    ],
  ])('%s', (_, given, lines) => expect(sharedLimitLines(sharedLimitsView(given), 1_000)).toEqual(lines));
});
