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

describe('categories of a rejection', () => {
  const REOPENS: StageList = {
    stages: [
      stage('GUIDE', { by: ['pm'], makes: { answer: { type: 'object' } } }),
      stage('DETAIL', { by: ['pm'], brief: 'By {of:GUIDE}', makes: { answer: { type: 'object' } } }),
      stage('BUILD', {
        brief: 'By {of:GUIDE} and {of:DETAIL}',
        review: {
          ...{ id: 'REVIEW', by: ['reviewer'], rounds: 3 },
          reopens: { code: 'author', design: { stage: 'GUIDE' }, detail: { stage: 'DETAIL' }, needs: 'block' },
        },
      }),
      stage('AFTER', {}),
    ],
  };
  /** The categories of its rejections, one after the other; each answer of the other stages has its number. */
  const script = (...categories: string[]) => {
    let given = 0;
    const left = [...categories];
    return {
      turn: ({ task, review }: Turn) => {
        if (review === null)
          return task === 'guide' || task === 'detail' ? { output: { given: (given += 1) } } : undefined;
        const category = left.shift();
        return category === undefined
          ? undefined
          : { output: { ...(rejects(`no ${left.length}`).output as object), category } };
      },
    };
  };

  it.each([
    [['code'], ['guide', 'detail', 'build', 'build', 'after']],
    [['design'], ['guide', 'detail', 'build', 'guide', 'detail', 'build', 'after']],
    [['detail'], ['guide', 'detail', 'build', 'detail', 'build', 'after']],
    [
      ['design', 'code'],
      ['guide', 'detail', 'build', 'guide', 'detail', 'build', 'build', 'after'],
    ],
  ])('%s open what they lead to, in order', (categories, expected) => {
    const { turns, board } = play(REOPENS, { script: script(...categories) });
    expect(board.finished?.outcome).toBe('done');
    expect(turns.flatMap(({ task, review }) => (review === null && task !== 'judge' ? [task] : []))).toEqual(expected);
  });

  it('let the work begin with the new answers, in a new session, and count its rounds on', () => {
    const played = play(REOPENS, { script: script('design', 'design', 'design') });
    expect(played.board.finished).toMatchObject({ outcome: 'failed', why: expect.stringContaining('in round 3 of 3') });
    const build = played.turns.filter(({ task, review }) => task === 'build' && review === null);
    expect(build.map(({ session }) => session.resume)).toEqual([false, false, false]);
    expect(played.board.tasks.get('build')?.task.brief.text).toContain('"given": 5');
    expect(played.board.tasks.get('build')?.task.brief.text).toContain('"given": 6');
    // DETAIL quotes GUIDE, too.
    const details = played.turns.filter(({ task }) => task === 'detail');
    expect(details.map(({ session }) => session.resume)).toEqual([false, false, false]);
    expect(played.turns.filter(({ task }) => task === 'guide')[1]).toMatchObject({
      session: { resume: true },
      prompt: { from: 'playbook', text: expect.stringMatching(/^REVIEW rejected build for its design:\n.*no 2/s) },
    });
  });

  it('show each stage as it is while it is done again', () => {
    const { steps } = play(REOPENS, { script: script('design') });
    const seen = steps.map((step) =>
      viewsOf(REOPENS, step)
        .map(({ state }) => state)
        .join(' '),
    );
    expect(seen).toContain('live waiting waiting waiting waiting');
    expect(seen.some((row) => row.includes('failed'))).toBe(false);
  });

  it('end the work that is blocked, and what needs it, unless it may fail', () => {
    const missing = { required_inputs: ['a price'], recommended_next_step: null };
    const turn = ({ review, task }: Turn) => {
      if (review === null) return task === 'guide' || task === 'detail' ? { output: {} } : undefined;
      return { output: { ...(rejects('no').output as object), category: 'needs', ...missing } };
    };
    const stopped = play(REOPENS, { script: { turn } });
    expect(stopped.board.finished?.why).toContain('BUILD: build: blocked by its review: needs');
    expect(viewsOf(REOPENS, stopped).map(({ state }) => state)).toEqual(['done', 'done', 'done', 'failed', 'waiting']);
    const stages = REOPENS.stages.map((one) => (one.id === 'BUILD' ? { ...one, onFail: 'skip' as const } : one));
    const skipped = play({ stages }, { script: { turn } });
    expect(skipped.board.finished).toMatchObject({
      outcome: 'done',
      why: expect.stringContaining('required inputs: a price'),
    });
  });
});
