import { describe, expect, it } from 'vitest';
import { createBoard } from '../../src/rules/board.ts';
import { concludeRun } from '../../src/rules/conclude.ts';
import { failedReviewsOf, judgedStagesOf, reviewCountsOf } from '../../src/rules/failed-reviews.ts';
import { newWork } from '../../src/rules/work.ts';
import type { Board } from '../../src/model/plan/board.ts';
import { TaskTable } from '../../src/model/plan/task-table.ts';
import type { RoundRecord } from '../../src/model/plan/round-record.ts';
import type { Work } from '../../src/model/plan/work.ts';
import type { Json } from '../../src/text/json.ts';
import { factsOf, member } from '../playbooks/simulator.ts';
import { newTask, REVIEWED } from './support.ts';

const LIST: Json = {
  stages: [
    { id: 'SPEC', review: { id: 'SPEC_REVIEW', by: ['reviewer'] } },
    { id: 'TEST', makes: { checks: 'criteria' } },
    { id: 'POST_REVIEW', judges: { rounds: 2, else: { fix: 'SPEC' } } },
  ],
};
const WHY = 'spec: rejected in round 2 of 3';

const rejected = (round: number, ...findings: string[]): RoundRecord => ({
  ...{ round, commit: `c${round}`, approved: false, findings },
  feedback: [`reviewer (rex): rejected. Not yet ${round}.`, ...findings.map((text) => `- ${text}`)].join('\n'),
  by: [{ role: 'reviewer', agent: 'rex', approved: false }],
});

const judged = (round: number, more: object = {}): Json => ({
  ...{ stage: 'POST_REVIEW', pass: round, round, approved: false, summary: 'Not whole.', converging: true },
  by: [
    { role: 'pm', agent: 'pam', approved: true },
    { role: 'reviewer', agent: 'rex', approved: false },
  ],
  findings: [{ file: 'src/a.ts', line: 3, problem: 'no expiry', suggestion: 'add one', by: 'reviewer' }],
  ...more,
});

const ENDED: Work['phase'] = { at: 'ended', as: 'failed', cause: 'rejected', why: 'rejected in round 2 of 3' };

function board(of: {
  phase?: Work['phase'];
  rounds?: readonly RoundRecord[];
  records?: Record<string, Record<string, Json>>;
  list?: Json;
}): Board {
  const { phase = { at: 'working' }, rounds = [], records = {}, list = LIST } = of;
  const task = newTask('spec', REVIEWED);
  const facts = factsOf([member('bob', 'builder'), member('rex', 'reviewer')], { options: { list } });
  return {
    ...createBoard(facts),
    tasks: new TaskTable().with({ task, order: 0, depth: 0, at: { added: 0 }, work: { ...newWork(), phase, rounds } }),
    records: new Map(Object.entries(records).map(([name, values]) => [name, new Map(Object.entries(values))])),
    finished: { outcome: 'failed', why: WHY },
  };
}

const PLACED = { 'stage-tasks': { spec: { stage: 'SPEC', pass: 1, as: 'work' } } };
const rounds = (...all: Json[]) => ({ 'stage-rounds': Object.fromEntries(all.map((one, at) => [`P/${at}`, one])) });

describe('reviews that rejected for the last time', () => {
  it.each<[string, Parameters<typeof board>[0], object[]]>([
    ['none', {}, []],
    [
      'not of a task that failed of something else',
      { phase: { ...ENDED, cause: 'attempts' }, rounds: [rejected(1)] },
      [],
    ],
    [
      'of a task, by the review of its stage, and what is repeated',
      { phase: ENDED, rounds: [rejected(1, 'x'), rejected(2, 'x')], records: PLACED },
      [
        {
          ...{ stage: 'SPEC_REVIEW', task: 'spec', cap: 3 },
          rounds: [
            { round: 1, repeated: false },
            { round: 2, repeated: true },
          ],
        },
      ],
    ],
    [
      'of a task without a stage',
      { phase: ENDED, rounds: [rejected(1)], list: null },
      [{ stage: 'spec', task: 'spec' }],
    ],
    ['not of a judge that may reject once more', { records: rounds(judged(1)) }, []],
    [
      'of a judge, with what was suggested',
      { records: rounds(judged(1), judged(2)) },
      [
        {
          ...{ stage: 'POST_REVIEW', task: null, cap: 2 },
          rounds: [
            {},
            {
              text: 'pm (pam): approved, reviewer (rex): rejected. Not whole.\n- src/a.ts:3: no expiry (suggestion: add one)',
            },
          ],
        },
      ],
    ],
    ['not of a judge that has approved since', { records: rounds(judged(2), judged(3, { approved: true })) }, []],
    [
      'of a judge at the same findings, if that stops',
      {
        records: rounds(judged(1, { converging: false })),
        list: { ...(LIST as object), whenNotConverging: 'stop' },
      },
      [{ stage: 'POST_REVIEW', rounds: [{ repeated: true }] }],
    ],
    ['not of records in another form', { records: rounds('what?', { stage: 'POST_REVIEW' }), list: 7 }, []],
  ])('%s', (_what, of, expected) => {
    const found = failedReviewsOf(board(of));
    expect(found).toHaveLength(expected.length);
    expect(found).toMatchObject(expected);
  });

  it('and others are counted by the stage that reviews', () => {
    const of = { phase: ENDED, rounds: [rejected(1), rejected(2)] };
    const staged = { ...of, records: { ...PLACED, ...rounds(judged(1), judged(2), judged(3, { approved: true })) } };
    expect(reviewCountsOf(board(staged))).toEqual([
      { stage: 'SPEC_REVIEW', reviews: 1, rounds: 2 },
      { stage: 'POST_REVIEW', reviews: 1, rounds: 3 },
    ]);
    expect(reviewCountsOf(board({ ...of, list: null }))).toEqual([{ stage: null, reviews: 1, rounds: 2 }]);
    expect(reviewCountsOf(board({}))).toEqual([]);
  });

  it.each<[string, Parameters<typeof board>[0], string]>([
    [
      'a task',
      { phase: ENDED, rounds: [rejected(1, 'x'), rejected(2, 'y')], records: PLACED },
      `FAILED, ${WHY}; reviewer (rex): rejected. Not yet 2.; - y; all rounds: failures/SPEC_REVIEW.md`,
    ],
    ['all of the work', { records: rounds(judged(2)) }, `FAILED, ${WHY}; all rounds: failures/POST_REVIEW.md`],
    ['nothing', {}, `FAILED, ${WHY}`],
  ])('are in the headline, with the file that has everything: %s', (_what, of, headline) => {
    expect(concludeRun({ board: board(of), problem: undefined, strict: false }).headline).toBe(headline);
  });

  it('leave the file in a headline that is cut', () => {
    const long = {
      ...board({ records: rounds(judged(2)) }),
      finished: { outcome: 'failed', why: 'x'.repeat(900) } as const,
    };
    const { headline } = concludeRun({ board: long, problem: undefined, strict: false });
    expect(headline).toHaveLength(300);
    expect(headline).toMatch(/x…; all rounds: failures\/POST_REVIEW\.md$/);
  });
});

describe('stages that judge the whole', () => {
  it('have all their rounds, also where the last one approved', () => {
    const approved = { approved: true, findings: [], summary: 'All there.' };
    const stages = judgedStagesOf(board({ records: rounds(judged(1), judged(2, approved)) }));
    expect(stages).toMatchObject([{ stage: 'POST_REVIEW', cap: 2, rounds: [{ approved: false }, { approved: true }] }]);
    expect(stages[0]?.rounds[0]?.text).toContain('- src/a.ts:3: no expiry (suggestion: add one)');
    expect(judgedStagesOf(board({}))).toEqual([]);
  });
});

describe('which reviews count', () => {
  const list = (more: object = {}): Json => ({
    stages: [
      { id: 'SPEC', review: { id: 'SPEC_REVIEW', by: ['reviewer'] } },
      { id: 'TEST', makes: { checks: 'criteria' } },
      { id: 'POST_REVIEW', judges: { rounds: 2 } },
      { id: 'LAST', judges: { rounds: 2 } },
    ],
    ...more,
  });
  const of = (stage: string, round: number, more: object = {}): Json => judged(round, { stage, ...more });
  const two = { records: rounds(of('POST_REVIEW', 2), of('LAST', 2), of('TEST', 2)), list: list() };

  it('each stage that judges has its own rounds', () => {
    expect(judgedStagesOf(board(two)).map(({ stage, rounds: all }) => [stage, all.length])).toEqual([
      ['POST_REVIEW', 1],
      ['LAST', 1],
    ]);
    expect(failedReviewsOf(board(two)).map(({ stage }) => stage)).toEqual(['POST_REVIEW', 'LAST']);
    expect(reviewCountsOf(board(two))).toMatchObject([{ stage: 'TEST' }, { stage: 'POST_REVIEW' }, { stage: 'LAST' }]);
  });

  it.each<[string, Parameters<typeof board>[0], number]>([
    ['of work that is not over', { phase: { at: 'working' }, rounds: [rejected(1)] }, 0],
    ['of work that was done', { phase: { ...ENDED, as: 'done' }, rounds: [rejected(1)] }, 0],
    ['of work that was rejected', { phase: ENDED, rounds: [rejected(1)] }, 1],
    [
      'of a judge that repeats itself, where nothing stops',
      { list: list(), records: rounds(of('LAST', 1, { converging: false })) },
      0,
    ],
    [
      'of a judge that goes on, where something else would stop',
      { list: list({ whenNotConverging: 'stop' }), records: rounds(of('LAST', 1)) },
      0,
    ],
    [
      'where repeating stops',
      { list: list({ whenNotConverging: 'stop' }), records: rounds(of('LAST', 1, { converging: false })) },
      1,
    ],
    [
      'where it goes on anyway',
      { list: list({ whenNotConverging: 'continue' }), records: rounds(of('LAST', 1, { converging: false })) },
      0,
    ],
  ])('%s', (_, about, count) => expect(failedReviewsOf(board(about))).toHaveLength(count));

  it('a task has the review of its stage, the stage without one, or its own name', () => {
    const at = (stage: string): string | undefined =>
      failedReviewsOf(
        board({ phase: ENDED, rounds: [rejected(1)], records: { 'stage-tasks': { spec: { stage } } }, list: list() }),
      )[0]?.stage;
    expect([at('SPEC'), at('TEST'), at('OTHER')]).toEqual(['SPEC_REVIEW', 'TEST', 'OTHER']);
    expect(failedReviewsOf(board({ phase: ENDED, rounds: [rejected(1)], list: list() }))[0]?.stage).toBe('spec');
  });

  it('tasks come in the order of the plan', () => {
    const first = board({ phase: ENDED, rounds: [rejected(1)] });
    const spec = first.tasks.get('spec')!;
    const tasks = new TaskTable()
      .with({ ...spec, order: 2 })
      .with({ ...spec, order: 1, task: { ...spec.task, id: 'early' } });
    expect(failedReviewsOf({ ...first, tasks }).map(({ task }) => task)).toEqual(['early', 'spec']);
  });

  it('of several, the one that rejected last is told with its own rounds, and each is counted', () => {
    const one = (id: string, by: string, most: number) => ({
      id,
      by: [by],
      quorum: 'all' as const,
      rounds: most,
      criteria: [],
    });
    const task = newTask('spec', { review: one('A', 'reviewer', 9), laterReviews: [one('B', 'qa', 2)] });
    const all = [
      { ...rejected(1, 'x'), approved: true, review: 'A' },
      { ...rejected(1, 'y'), review: 'B' },
      { ...rejected(2, 'z'), approved: true, review: 'A' },
      { ...rejected(2, 'y'), review: 'B' },
    ];
    const before = board({ phase: ENDED, rounds: all, records: PLACED });
    const now = { ...before, tasks: before.tasks.with({ ...before.tasks.get('spec')!, task }) };
    expect(failedReviewsOf(now)).toMatchObject([
      {
        stage: 'B',
        task: 'spec',
        cap: 2,
        rounds: [
          { round: 1, repeated: false },
          { round: 2, repeated: true },
        ],
      },
    ]);
    expect(reviewCountsOf(now)).toEqual([
      { stage: 'A', reviews: 1, rounds: 2 },
      { stage: 'B', reviews: 1, rounds: 2 },
    ]);
  });

  it('tasks of the engine are not counted', () => {
    const first = board({ phase: ENDED, rounds: [rejected(1)] });
    const spec = first.tasks.get('spec')!;
    expect(
      reviewCountsOf({ ...first, tasks: new TaskTable().with({ ...spec, task: { ...spec.task, owner: 'engine' } }) }),
    ).toEqual([]);
  });

  it('a finding says where it is as far as that is known', () => {
    const text = (found: object): string | undefined =>
      judgedStagesOf(
        board({
          records: rounds(
            judged(1, { findings: [{ file: 'a.ts', line: 3, problem: 'p', suggestion: null, ...found }] }),
          ),
        }),
      )[0]?.rounds[0]?.text.split('\n')[1];
    expect([text({}), text({ line: null }), text({ file: null }), text({ suggestion: 's' })]).toEqual([
      ...['- a.ts:3: p', '- a.ts: p', '- p', '- a.ts:3: p (suggestion: s)'],
    ]);
  });
});
