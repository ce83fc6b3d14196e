import { describe, expect, it } from 'vitest';
import { limitsSchema } from '../../../src/model/limits.ts';
import type { StageList } from '../../../src/playbooks/stages/stage-list.ts';
import { plannedStages } from '../../../src/playbooks/stages/planned-stages.ts';
import { rejects, type Turn } from '../simulator.ts';
import { play, stage, TEAM, viewsOf } from './support.ts';

const LIST: StageList = {
  stages: [
    stage('GUIDE', { by: ['pm'], makes: { answer: { type: 'object' } } }),
    stage('BUILD', {
      review: [
        { id: 'DESIGN', by: ['pm', 'builder'], session: { of: 'GUIDE' } },
        { id: 'QA', by: ['ba', 'reviewer'], rounds: 2 },
      ],
    }),
  ],
};

const askedOf = (turns: readonly Turn[]): string[] =>
  turns.flatMap(({ task, review }) => (task === 'judge' ? [] : [`${task}/${review ?? 'author'}`]));
/** Rejections by role, for another reason each. */
const rejecting = (left: Record<string, number>) => ({
  turn: ({ task, review }: Turn) => {
    if (task === 'guide') return { output: {} };
    if (review === null || (left[review] ?? 0) <= 0) return undefined;
    left[review] = (left[review] ?? 0) - 1;
    return rejects(`no ${review} ${left[review]}`);
  },
});

describe('several reviews of one stage', () => {
  it('follow each other, each with its own rounds and people, without the author', () => {
    const { board, turns } = play(LIST, { script: rejecting({}) });
    expect(board.finished?.outcome).toBe('done');
    expect(askedOf(turns)).toEqual(['guide/author', 'build/author', 'build/pm', 'build/ba', 'build/reviewer']);
    expect(board.tasks.get('build')?.task).toMatchObject({
      review: { id: 'DESIGN', by: ['pm'], rounds: limitsSchema.parse({}).reviewRounds, session: { of: 'guide' } },
      laterReviews: [{ id: 'QA', by: ['ba', 'reviewer'], rounds: 2 }],
    });
    const [guide, , design] = turns;
    expect(design).toMatchObject({ agent: guide?.agent, session: { key: guide?.session.key, resume: true } });
  });

  it('begin again at the first with a new commit', () => {
    const { turns, board } = play(LIST, { script: rejecting({ ba: 1 }) });
    expect(board.finished?.outcome).toBe('done');
    expect(askedOf(turns).slice(1)).toEqual([
      ...['build/author', 'build/pm', 'build/ba', 'build/reviewer'],
      ...['build/author', 'build/pm', 'build/ba', 'build/reviewer'],
    ]);
  });

  it.each([
    ['approves all', {}, ['done 1', 'done 1']],
    ['has its last round', { reviewer: 9 }, ['done 2', 'failed 2']],
    ['never comes to the second', { pm: 9 }, ['failed 4', 'waiting 0']],
    ['comes to the second late', { pm: 2, ba: 1 }, ['done 4', 'done 2']],
  ])('are shown as rows of their own where the first %s', (_, left, expected) => {
    const played = play(LIST, { script: rejecting({ ...left }) });
    const [, , ...rows] = viewsOf(LIST, played);
    expect(rows.map(({ state, round }) => `${state} ${round?.taken}`)).toEqual(expected);
    for (const { startedAt, endedAt } of rows)
      if (startedAt !== undefined) expect(endedAt).toBeGreaterThanOrEqual(startedAt);
  });

  it('are live one at a time', () => {
    const { steps } = play(LIST, { script: rejecting({ ba: 1 }) });
    const seen = steps.map((step) =>
      viewsOf(LIST, step)
        .slice(1)
        .map(({ state }) => state)
        .join(' '),
    );
    expect(seen.filter((row, index) => row !== seen[index - 1])).toEqual([
      ...['waiting waiting waiting', 'live waiting waiting', 'done live waiting', 'done done live'],
      ...['live waiting waiting', 'done live waiting', 'done done live', 'done done done'],
    ]);
  });

  it('are planned with numbers of their own', () => {
    const agents = TEAM.map(({ name, role }) => ({ name, role, runtime: 'x' }));
    const [, build] = plannedStages({ list: LIST, folder: 'd', reviewRounds: 4 }, agents);
    expect(build).toMatchObject({
      n: 2,
      reviews: [
        { n: 3, id: 'DESIGN', who: [{ name: 'pm' }], rounds: 4, session: { of: 'GUIDE' } },
        { n: 4, id: 'QA', who: [{ name: 'ba' }, { name: 'reviewer' }], rounds: 2 },
      ],
    });
  });
});
