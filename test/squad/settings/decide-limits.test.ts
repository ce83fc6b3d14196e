import { fc, it as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { STALL_FALLBACKS } from '../../../src/model/plan/work.ts';
import { limitsSchema, someLimitsSchema, type SomeLimits } from '../../../src/model/limits.ts';
import {
  decideAgentLimits,
  decideLimits,
  exceeds,
  LIMIT_PATHS,
  ownLimits,
  type DecidedLimits,
  type LimitValue,
} from '../../../src/squad/settings/decide-limits.ts';

const DEFAULTS = ownLimits({});

function decided(
  own: SomeLimits | undefined,
  repository: SomeLimits,
  objective: SomeLimits = {},
  flags: SomeLimits = {},
) {
  const sources = [
    { where: 'squad.yaml:1', limits: repository },
    { where: 'objective.md:2', limits: objective },
  ];
  return decideLimits({ own, sources, commandLine: flags });
}

const about = ({ raised, lowered }: DecidedLimits) => ({
  raised: raised.map(
    ({ key, value, instead, whose, where }) => `${key} ${String(value)}/${String(instead)} ${whose} ${where}`,
  ),
  lowered: lowered.map(({ key, value }) => `${key} ${String(value)}`),
});

describe('the limits of a run', () => {
  it.each<
    [string, Parameters<typeof decided>, { held: SomeLimits; asked: SomeLimits; raised?: string[]; lowered?: string[] }]
  >([
    ['nobody says anything', [undefined, {}], { held: {}, asked: {} }],
    [
      'the person alone',
      [{ usd: 50, task: { usd: 2 } }, {}],
      { held: { usd: 50, task: { usd: 2 } }, asked: { usd: 50, task: { usd: 2 } } },
    ],
    [
      'a repository lowers the person’s',
      [{ usd: 50 }, { usd: 40 }],
      { held: { usd: 40 }, asked: { usd: 40 }, lowered: ['usd 40'] },
    ],
    [
      'a repository lowers a default',
      [undefined, { usd: 2 }],
      { held: { usd: 2 }, asked: { usd: 2 }, lowered: ['usd 2'] },
    ],
    ['a repository says the same', [{ usd: 5 }, { usd: 5 }], { held: { usd: 5 }, asked: { usd: 5 } }],
    [
      'a repository raises the person’s',
      [{ usd: 1 }, { usd: 5000 }],
      { held: { usd: 1 }, asked: { usd: 5000 }, raised: ['usd 5000/1 own squad.yaml:1'] },
    ],
    [
      'an objective raises a default',
      [undefined, {}, { retries: 20 }],
      { held: {}, asked: { retries: 20 }, raised: ['retries 20/2 default objective.md:2'] },
    ],
    [
      'the smaller of two files counts',
      [{ usd: 9 }, { usd: 5 }, { usd: 8 }],
      { held: { usd: 5 }, asked: { usd: 5 }, lowered: ['usd 5'] },
    ],
    [
      'of two that raise, too',
      [{ usd: 1 }, { usd: 700 }, { usd: 30 }],
      { held: { usd: 1 }, asked: { usd: 30 }, raised: ['usd 30/1 own objective.md:2'] },
    ],
    [
      'what has no limit is only lowered',
      [undefined, { tokens: 9, task: { minutes: 3 } }],
      {
        held: { tokens: 9, task: { minutes: 3 } },
        asked: { tokens: 9, task: { minutes: 3 } },
        lowered: ['tokens 9', 'task.minutes 3'],
      },
    ],
    [
      'of a task, one by one',
      [{ task: { usd: 1, turns: 5 } }, { task: { usd: 2, turns: 4 } }],
      {
        held: { task: { usd: 1, turns: 4 } },
        asked: { task: { usd: 2, turns: 4 } },
        raised: ['task.usd 2/1 own squad.yaml:1'],
        lowered: ['task.turns 4'],
      },
    ],
    [
      'the command line is over all',
      [{ usd: 1 }, { usd: 5000 }, { usd: 2 }, { usd: 60 }],
      { held: { usd: 60 }, asked: { usd: 60 } },
    ],
    [
      'steps of a stall that cost less',
      [undefined, { walls: ['retry', 'fail'] }],
      { held: { walls: ['retry', 'fail'] }, asked: { walls: ['retry', 'fail'] }, lowered: ['walls retry,fail'] },
    ],
    [
      'steps of a stall that cost more',
      [undefined, { walls: ['retry'] }],
      {
        held: {},
        asked: { walls: ['retry'] },
        raised: ['walls retry/retry,workspace-reset,fail default squad.yaml:1'],
      },
    ],
  ])('%s', (_title, given, { held, asked, raised = [], lowered = [] }) => {
    const found = decided(...given);
    expect(found.held).toEqual({ ...DEFAULTS, ...held });
    expect(found.asked).toEqual({ ...DEFAULTS, ...asked });
    expect(about(found)).toEqual({ raised, lowered });
  });

  it('knows every limit that a file can set', () => {
    const { task, ...others } = someLimitsSchema.shape;
    const ofTask = Object.keys(task.unwrap().shape).map((key) => `task.${key}`);
    expect([...LIMIT_PATHS].toSorted()).toEqual([...Object.keys(others), ...ofTask].toSorted());
  });
});

const amount = fc.integer({ min: 1, max: 20 });
const someLimits: fc.Arbitrary<SomeLimits> = fc.record(
  {
    ...Object.fromEntries(
      [
        'minutes',
        'usd',
        'turns',
        'tokens',
        'parallel',
        'reviewRounds',
        'retries',
        'idleMinutes',
        'turnMinutes',
        'firstToolSeconds',
      ].map((key) => [key, amount]),
    ),
    walls: fc.array(fc.constantFrom(...STALL_FALLBACKS), { minLength: 1, maxLength: 4 }),
    task: fc.record({ minutes: amount, usd: amount, turns: amount, tokens: amount }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
);

const flat = (limits: SomeLimits): Map<string, LimitValue> => {
  const { task, ...others } = limits;
  const all = {
    ...others,
    ...Object.fromEntries(Object.entries(task ?? {}).map(([key, value]) => [`task.${key}`, value])),
  };
  return new Map(Object.entries(all).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const])));
};

describe('whatever files say', () => {
  property.prop([someLimits, someLimits, someLimits, someLimits])(
    'without consent nothing is above the person’s word, and what is above it is named',
    (own, repository, objective, flags) => {
      const { held, asked, raised } = decided(own, repository, objective, flags);
      expect(limitsSchema.parse(held)).toEqual(held);
      expect(limitsSchema.parse(asked)).toEqual(asked);
      const word = flat({ ...ownLimits(own), ...flags, task: { ...own.task, ...flags.task } });
      for (const [key, value] of flat(held)) expect(exceeds(value, word.get(key)), key).toBe(false);
      const above = [...flat(asked)].filter(([key, value]) => exceeds(value, word.get(key))).map(([key]) => key);
      expect(raised.map(({ key }) => key).toSorted()).toEqual(above.toSorted());
      for (const [key, value] of word) if (flat(flags).has(key)) expect(flat(asked).get(key)).toEqual(value);
    },
  );

  property.prop([someLimits, someLimits])(
    'agents of a repository have no turn longer than the person’s',
    (own, limits) => {
      const { task: _task, walls: _walls, reviewRounds: _rounds, retries: _retries, ...ofAgent } = limits;
      const { raised } = decideAgentLimits([{ name: 'a', limits: ofAgent }], { agents: [], run: own }, 'squad.yaml:1');
      const word = flat(ownLimits(own));
      const expected = ['idleMinutes', 'turnMinutes', 'firstToolSeconds'].filter((key) => {
        const value = flat(ofAgent).get(key);
        return value !== undefined && exceeds(value, word.get(key));
      });
      expect(raised.map(({ key }) => key).toSorted()).toEqual(expected.toSorted());
    },
  );
});
