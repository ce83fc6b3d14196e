// @module-tag all
import { fc, it } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { rejects, type Script, type Turn } from '../simulator.ts';
import type { StageView } from '../../../src/model/plan.ts';
import type { StageList } from '../../../src/playbooks/stages/stage-list.ts';
import { APPROVED, play, rejection, stage, viewsOf } from './support.ts';

// Stages one after the other: two with a review, a test, and a judge who may send all of it back for a fix.

const LIST: StageList = {
  stages: [
    stage('SPEC', {
      by: ['ba'],
      makes: { document: 'spec.md', headings: [] },
      review: { id: 'SPEC_REVIEW', by: ['reviewer', 'pm'] },
    }),
    stage('BUILD', { review: { id: 'BUILD_REVIEW', by: ['reviewer'] } }),
    stage('TEST'),
    stage('POST_REVIEW', {
      by: ['pm'],
      makes: { answer: 'verdict' },
      judges: { rounds: 4, else: { fix: 'BUILD' } },
    }),
  ],
};

/** Rejections in a row, for each thing that is reviewed or judged. */
const rejections = fc.record({
  spec: fc.nat(4),
  build: fc.nat(4),
  fix: fc.nat(2),
  judge: fc.nat(3),
});

function scriptOf(left: Record<'spec' | 'build' | 'fix' | 'judge', number>): Script {
  const counts = { ...left };
  const rejectsNow = (what: keyof typeof counts): boolean => (counts[what] -= 1) >= 0;
  return {
    turn: ({ task, review }: Turn) => {
      if (task.startsWith('post-review')) return { output: rejectsNow('judge') ? rejection('broken') : APPROVED };
      if (review !== 'reviewer') return undefined;
      const what = task.startsWith('fix') ? 'fix' : task === 'spec' ? 'spec' : 'build';
      return rejectsNow(what) ? rejects(`no ${counts[what]}`) : undefined;
    },
  };
}

function timed(views: readonly StageView[]) {
  return views.flatMap(({ id, startedAt, endedAt }) =>
    startedAt === undefined || endedAt === undefined ? [] : [{ id, startedAt, endedAt }],
  );
}

describe('the times of stages', () => {
  it.prop([rejections])('count each moment once: work ends where its review begins', (left) => {
    const { steps, board } = play(LIST, { script: scriptOf(left) });
    for (const at of [...steps.map((step) => step.board), board]) {
      const views = viewsOf(LIST, { board: at });
      const spans = timed(views);
      for (const { startedAt, endedAt } of spans) expect(endedAt).toBeGreaterThanOrEqual(startedAt);
      const sum = spans.reduce((total, { startedAt, endedAt }) => total + endedAt - startedAt, 0);
      const first = Math.min(...spans.map(({ startedAt }) => startedAt));
      if (spans.length > 0) expect(sum).toBeLessThanOrEqual(at.now - first);
      for (const name of ['SPEC', 'BUILD']) {
        const work = views.find(({ id }) => id === name);
        const review = views.find(({ id }) => id === `${name}_REVIEW`);
        if (work?.state !== 'done' || review?.startedAt === undefined) continue;
        expect([name, work.endedAt]).toEqual([name, review.startedAt]);
        expect(review.endedAt ?? Infinity).toBeGreaterThan(review.startedAt);
      }
    }
  });
});
