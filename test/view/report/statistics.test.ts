import { describe, expect, it } from 'vitest';
import { renderStatistics } from '../../../src/cli/render/statistics-table.ts';
import { PLAIN } from '../../../src/cli/render/style.ts';
import type { RunFigures } from '../../../src/view/run-summary.ts';
import { statisticsOf, statisticsSchema } from '../../../src/view/report/statistics.ts';

const HOUR = 3_600_000;

function run(more: Partial<RunFigures> = {}): RunFigures {
  return {
    ...{ playbook: 'delivery', state: 'done', elapsedMs: HOUR / 2, wallMs: HOUR, interrupted: false, reviews: [] },
    turns: { started: 3, settled: 3, lost: 0, live: 0 },
    usage: { inputTokens: 100, outputTokens: 10, costUsd: 0.5, unknownTurns: 0, unknownCostTurns: 0 },
    ...more,
  };
}

const open = (more: Partial<RunFigures> = {}): RunFigures => run({ state: 'stopped', wallMs: null, ...more });
const times = (count: number, one: RunFigures): RunFigures[] => Array.from({ length: count }, () => one);
const review = (stage: string | null, reviews: number, rounds: number) => ({ stage, reviews, rounds });
const UNKNOWN = { inputTokens: null, outputTokens: null, costUsd: null, unknownTurns: 3, unknownCostTurns: 3 };

describe('statistics', () => {
  it.each<[string, RunFigures[], object]>([
    [
      'of nothing have no data',
      [],
      {
        runs: { all: 0, done: 0, failed: 0, open: 0 },
        completion: { rate: null, met: null, byPlaybook: [] },
        time: { runs: 0, averageMs: null, medianMs: null, averageEngineMs: null, met: null },
        reviews: { average: null, met: null, byStage: [] },
        recovery: { interrupted: 0, rate: null, met: null },
        use: { turns: 0, inputTokens: null, costUsd: null },
      },
    ],
    [
      'count what has ended, by playbook; what is open is no failure',
      [run(), run(), run({ state: 'failed' }), open(), run({ playbook: 'objective', state: 'failed' })],
      {
        runs: { all: 5, done: 2, failed: 2, open: 1 },
        completion: {
          ...{ done: 2, ended: 4, rate: 0.5, atLeast: 0.7, met: false },
          byPlaybook: [
            { playbook: 'delivery', done: 2, ended: 3, rate: 2 / 3 },
            { playbook: 'objective', done: 0, ended: 1, rate: 0 },
          ],
        },
      },
    ],
    [
      'reach a target that is met exactly',
      [...times(7, run()), ...times(3, run({ state: 'failed' }))],
      { completion: { rate: 0.7, met: true } },
    ],
    [
      'time only runs that are done',
      [
        run({ wallMs: HOUR }),
        run({ wallMs: 2 * HOUR }),
        run({ wallMs: 6 * HOUR, elapsedMs: HOUR }),
        run({ state: 'failed', wallMs: 90 * HOUR }),
      ],
      { time: { runs: 3, averageMs: 3 * HOUR, medianMs: 2 * HOUR, averageEngineMs: (2 / 3) * HOUR, met: true } },
    ],
    [
      'take the middle of two for a median',
      [run({ wallMs: HOUR }), run({ wallMs: 7 * HOUR })],
      { time: { medianMs: 4 * HOUR, averageMs: 4 * HOUR, met: false } },
    ],
    [
      'average rounds over reviews, by stage, of runs that are open too',
      [
        run({ playbook: 'objective', reviews: [review('SPEC_REVIEW', 1, 3), review('POST_REVIEW', 1, 1)] }),
        open({ playbook: 'objective', reviews: [review('SPEC_REVIEW', 1, 1)] }),
        run({ reviews: [review(null, 4, 5)] }),
      ],
      {
        reviews: {
          ...{ reviews: 7, rounds: 10, average: 10 / 7, below: 2.5, met: true },
          byStage: [
            { playbook: 'delivery', stage: null, reviews: 4, rounds: 5, average: 1.25 },
            { playbook: 'objective', stage: 'SPEC_REVIEW', reviews: 2, rounds: 4, average: 2 },
            { playbook: 'objective', stage: 'POST_REVIEW', reviews: 1, rounds: 1, average: 1 },
          ],
        },
      },
    ],
    [
      'recover what was resumed to an end, failed or not',
      [run({ interrupted: true }), run({ interrupted: true, state: 'failed' }), open({ interrupted: true }), run()],
      { recovery: { interrupted: 3, recovered: 2, rate: 2 / 3, met: false } },
    ],
    [
      'sum what is known, and count what is not',
      [run(), run({ usage: UNKNOWN })],
      {
        use: {
          turns: 6,
          settledTurns: 6,
          inputTokens: 100,
          outputTokens: 10,
          costUsd: 0.5,
          unknownTurns: 3,
          unknownCostTurns: 3,
        },
      },
    ],
    [
      'do not take unknown for zero',
      [run({ usage: UNKNOWN })],
      { use: { inputTokens: null, outputTokens: null, costUsd: null } },
    ],
    [
      'do not take a run without a turn for a free one',
      [
        open({
          turns: { started: 1, settled: 0, lost: 0, live: 1 },
          usage: { ...UNKNOWN, inputTokens: 0, outputTokens: 0, costUsd: 0 },
        }),
        run({ usage: UNKNOWN }),
      ],
      { use: { turns: 4, settledTurns: 3, inputTokens: null, costUsd: null, unknownTurns: 3 } },
    ],
  ])('%s', (_what, runs, expected) => {
    const found = statisticsOf(runs);
    expect(found).toMatchObject(expected);
    expect(statisticsSchema.parse(found)).toEqual(found);
  });
});

describe('the table of statistics', () => {
  const lines = (runs: RunFigures[]) => renderStatistics(statisticsOf(runs), { columns: undefined, style: PLAIN });
  const textOf = (runs: RunFigures[]) => lines(runs).map((line) => line.replaceAll(/ {2,}/g, ' | ').trim());

  it('says of each number what it is computed from, and what is aimed at', () => {
    const found = textOf([
      run({ playbook: 'objective', reviews: [review('SPEC_REVIEW', 1, 3)], interrupted: true }),
      run({ state: 'failed', usage: UNKNOWN }),
      open(),
    ]);
    expect(found).toEqual([
      '3 runs: 1 done, 1 failed, 1 not over',
      '',
      'figure | value | target | from',
      'completed | 50 % | ≥ 70 % | 1 done of 2 that ended',
      '| delivery | 0 % | 0 done of 1 that ended',
      '| objective | 100 % | 1 done of 1 that ended',
      'time to completion | 1h00m | < 4h00m | average by the clock of 1 run that ended as done',
      '| median | 1h00m | the same runs',
      '| engine time | 30m00s | their average, without suspended time',
      'rounds per review | 3.00 | < 2.5 | 3 rounds in 1 review',
      '| SPEC_REVIEW of objective | 3.00 | 3 rounds in 1 review',
      'recovered | 100 % | 100 % | 1 resumed to an end of 1 killed or interrupted',
      'turns | 9 | all runs',
      'tokens | 200 in, 20 out | 6 of 9 ended turns; the others are unknown',
      'cost | USD 1.00 | 6 of 9 ended turns; the others are unknown',
    ]);
  });

  it('says where there is no data, and where nothing is known', () => {
    const found = textOf([open({ usage: UNKNOWN })]).join('\n');
    for (const figure of ['completed', 'time to completion', 'rounds per review', 'recovered']) {
      expect(found).toContain(`${figure} | no data`);
    }
    expect(found).toContain('tokens | unknown');
    expect(lines([])).toEqual(['There is no run here yet. Start one: squad run objective.md']);
  });

  it('never rounds a number to its target', () => {
    const almost = [...times(1_999, run()), ...times(858, run({ state: 'failed' }))];
    expect(textOf(almost)[3]).toContain('completed | 69.9 % | ≥ 70 %');
    expect(textOf([run({ reviews: [review('A', 1_000, 2_499)] })])[8]).toContain('| 2.49 | < 2.5');
  });

  it('shows nothing raw of a name that others chose', () => {
    const found = lines([run({ playbook: 'x\u001b[31m\u202ey\nz' })]).join('\n');
    expect(found).not.toMatch(/[\u001b\u202e]/);
    expect(found.split('\n')).toHaveLength(13);
  });
});
