import { describe, expect, it } from 'vitest';
import type { StageList } from '../../../src/playbooks/stages/stage-list.ts';
import { failed, rejects, type Script, type Turn } from '../simulator.ts';
import { answers, briefOf, done, entry, play, stage, viewsOf } from './support.ts';

const ANSWER = { answer: { type: 'object' } };
const CHAIN: StageList = {
  stages: [
    stage('PLAN', { by: ['pm'], makes: { answer: 'tasks' } }),
    stage('GUIDE', {
      by: ['ba'],
      each: { of: 'PLAN' },
      makes: ANSWER,
      brief: 'Guide {item:id}: {item:title}\n{item:acceptance}',
    }),
    stage('BUILD', {
      each: { of: 'GUIDE' },
      brief: 'By {of:GUIDE}',
      review: {
        id: 'REVIEW',
        by: ['ba', 'reviewer'],
        session: { of: 'GUIDE' },
        reopens: { code: 'author', design: { stage: 'GUIDE' } },
      },
    }),
    stage('NOTE', {
      by: ['pm'],
      each: { of: 'BUILD' },
      makes: ANSWER,
      brief: 'Note {item:id}',
      session: { of: 'GUIDE' },
    }),
    stage('REPORT', { by: ['pm'], makes: ANSWER, brief: 'Of {of:NOTE} and {of:GUIDE}' }),
  ],
};
const PLAN = { tasks: [entry('one'), entry('two'), entry('three', { needs: ['one'] })] };

/** Each answer names its task. */
const script = (more: (turn: Turn) => ReturnType<NonNullable<Script['turn']>> = () => undefined): Script => ({
  turn: (turn) => {
    const { task, review } = turn;
    const said = more(turn);
    if (said !== undefined || review !== null || task === 'judge') return said;
    if (task === 'plan') return { output: PLAN };
    return /build/.test(task) ? undefined : { output: { by: task } };
  },
});

describe('a stage that follows another one entry by entry', () => {
  it('has all its tasks with the plan, each behind that of its own entry', () => {
    const played = play(CHAIN, { script: script() });
    expect(played.board.finished?.outcome).toBe('done');
    const needs = [...played.board.tasks.values()].map(({ task }) => `${task.id} ← ${task.needs.join(' ')}`);
    expect(needs.slice(0, 11)).toEqual([
      'plan ← ',
      'one ← plan',
      'one-build ← one',
      'one-note ← one-build',
      'two ← plan',
      'two-build ← two',
      'two-note ← two-build',
      'three ← plan one-note',
      'three-build ← three',
      'three-note ← three-build',
      'report ← one-note two-note three-note',
    ]);
    const order = done(played);
    expect(order.indexOf('one-build')).toBeLessThan(order.indexOf('three'));
    expect(played.board.tasks.get('two-build')?.task.title).toBe('Build: Make two');
  });

  it('begins an entry while another one is behind', () => {
    const { turns } = play(CHAIN, { script: { ...script(), choose: (count) => count - 1 } });
    const seen = turns.flatMap(({ task, review }) => (review === null ? [task] : []));
    const first = (id: string): number => seen.indexOf(id);
    expect(Math.min(first('one-build'), first('two-build'))).toBeLessThan(
      Math.max(first('one-note'), first('two-note')),
    );
  });

  it('is told what the stage before said of its entry, once that is there', () => {
    const played = play(CHAIN, { script: script() });
    expect(briefOf(played, 'one')).toBe('Guide one: Make one\n- one works');
    expect(briefOf(played, 'two-build')).toContain('"by": "two"');
    expect(briefOf(played, 'two-build')).not.toContain('"by": "one"');
    const report = briefOf(played, 'report');
    for (const id of ['one', 'two', 'three']) expect(report).toContain(`"by": "${id}-note"`);
  });

  it('has the sessions of its own entry', () => {
    const { board, turns } = play(CHAIN, { script: script() });
    expect(board.tasks.get('two-build')?.task.review).toMatchObject({ by: ['ba', 'reviewer'], session: { of: 'two' } });
    expect(board.tasks.get('two-note')?.task.session).toEqual({ of: 'two' });
    const guide = turns.find(({ task }) => task === 'two');
    const review = turns.find(({ task, review: as }) => task === 'two-build' && as === 'ba');
    expect(review?.session).toEqual({ key: guide?.session.key, resume: true });
  });

  it('has its own entry alone opened again by a rejection', () => {
    let left = 1;
    const played = play(CHAIN, {
      script: script(({ task, review }) => {
        if (task !== 'two-build' || review !== 'reviewer' || (left -= 1) < 0) return undefined;
        return { output: { ...(rejects('no').output as object), category: 'design' } };
      }),
    });
    expect(played.board.finished?.outcome).toBe('done');
    const count = (id: string): number =>
      played.turns.filter(({ task, review }) => task === id && review === null).length;
    expect(['one', 'one-build', 'two', 'two-build', 'two-note'].map(count)).toEqual([1, 1, 2, 2, 1]);
  });

  it.each([
    ['stop', 'failed', ['one-note'], false],
    ['skip', 'done', ['one-note'], true],
  ] as const)('that fails for one entry and says %s leaves the others', (onFail, outcome, others, reports) => {
    const stages = CHAIN.stages.map((one) => (one.each === undefined ? one : { ...one, onFail }));
    const played = play(
      { stages },
      { script: script(({ task }) => (task === 'two-build' ? failed('model-refused') : undefined)) },
    );
    expect(played.board.finished?.outcome).toBe(outcome);
    expect(done(played)).toEqual(expect.arrayContaining([...others]));
    expect(done(played).includes('report')).toBe(reports);
    expect(played.board.tasks.get('two-note')?.work.phase).toMatchObject({ as: 'cancelled' });
  });

  it('waits in the rows of stages until an entry comes to it', () => {
    const { steps } = play(CHAIN, { script: script() });
    const seen = steps.map((step) =>
      viewsOf(CHAIN, step)
        .map(({ state }) => state)
        .join(' '),
    );
    expect(seen).toContain('done live waiting waiting waiting waiting');
    expect(seen.at(-1)).toBe('done done done done done done');
  });

  it('is done again for all entries after a judge sends it back', () => {
    const judged: StageList = {
      stages: [
        stage('PLAN', { by: ['pm'], makes: { answer: 'tasks' } }),
        stage('BUILD', { each: { of: 'PLAN' } }),
        stage('NOTE', { by: ['ba'], each: { of: 'BUILD' }, makes: ANSWER }),
        stage('JUDGE', {
          by: ['reviewer'],
          makes: { answer: 'verdict' },
          judges: { rounds: 3, else: { redo: 'BUILD' } },
        }),
      ],
    };
    const no = {
      approved: false,
      summary: 'no',
      findings: [{ file: null, line: null, problem: 'x', suggestion: null }],
      criteria: [],
    };
    const yes = { approved: true, summary: 'yes', findings: [], criteria: [] };
    const said = answers({ plan: { tasks: [entry('one'), entry('two')] }, judge: no, 'judge-2': yes });
    const played = play(judged, {
      script: { turn: (turn, board) => said(turn, board) ?? (turn.task.includes('note') ? { output: {} } : undefined) },
    });
    expect(done(played)).toEqual(expect.arrayContaining(['one-2', 'two-2', 'one-note-2', 'two-note-2', 'judge-2']));
    expect(played.board.tasks.get('one-note-2')?.task.needs).toEqual(['one-2']);
  });
});
