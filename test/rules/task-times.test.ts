import { describe, expect, it } from 'vitest';
import { factsOf, member, rejects, simulate } from '../playbooks/simulator.ts';
import { timesAfter } from '../../src/rules/board.ts';
import { createView } from '../../src/rules/view.ts';
import { newWork } from '../../src/rules/work.ts';
import type { TaskTimes } from '../../src/model/plan/board.ts';
import type { Phase, Work } from '../../src/model/plan/work.ts';
import { newTask, stateOf } from './support.ts';

const TEAM = [member('bob', 'builder'), member('rev', 'reviewer')];

describe('times of a task', () => {
  it('come from what happened to it, in order, and are the same when its entries are folded again', () => {
    const review = { by: ['reviewer'], quorum: 'all', rounds: 2, criteria: [] } as const;
    const task = newTask('a', {
      workspace: 'own',
      integrate: true,
      review: { ...review, by: ['reviewer'], criteria: [] },
    });
    let rounds = 0;
    const played = simulate({
      facts: factsOf(TEAM),
      plan: [{ do: 'add-task', task }],
      script: { turn: ({ review: role }) => (role !== null && (rounds += 1) === 1 ? rejects('no') : undefined) },
    });
    const seen = createView(played.board).task('a');
    const { added = 0, started = 0, judged = 0, ended = 0 } = seen?.at ?? {};
    expect(added).toBeGreaterThan(0);
    expect([added, started, judged, ended]).toEqual([added, started, judged, ended].toSorted((a, b) => a - b));
    expect(new Set([added, started, judged, ended]).size).toBe(4);
    expect(seen?.rounds.map(({ approved }) => approved)).toEqual([false, true]);
    expect(seen?.reviewers).toEqual(['rev']);
  });

  it('has no end while it is open again', () => {
    const { board, steps } = simulate({
      facts: factsOf(TEAM),
      plan: [{ do: 'add-task', task: newTask('a') }],
      playbook: {
        name: 'test',
        advance: (view, event) =>
          event.type === 'task-done' && view.task('a')?.round === 1
            ? [{ do: 'reopen-task', id: 'a', feedback: 'again', session: 'same' }]
            : [],
      },
    });
    const again = steps.map((step) => step.board.tasks.get('a')).filter((state) => state?.work.round === 2);
    const open = again.filter((state) => state?.work.phase.at !== 'ended');
    expect(open.length).toBeGreaterThan(0);
    expect(open.every((state) => state?.at.ended === undefined)).toBe(true);
    expect(board.tasks.get('a')?.at.ended).toBeGreaterThan(0);
  });
});

describe('the times after a step', () => {
  const AT = { added: 1 };
  const STARTED = { added: 1, started: 2 };
  const ENDED = { added: 1, started: 2, ended: 3 };
  const reviewing: Phase = { at: 'reviewing', commit: 'c', slots: [] };
  const end: Phase = { at: 'ended', as: 'done', cause: null, why: '' };
  const work = (phase: Phase, attempts = 0): Work => ({ ...newWork(), phase, attempts });
  it.each<[string, TaskTimes, Work, Work, TaskTimes]>([
    ['nothing has begun', AT, work({ at: 'working' }), work({ at: 'working' }), AT],
    ['an attempt begins', AT, work({ at: 'working' }), work({ at: 'working' }, 1), { added: 1, started: 9 }],
    [
      'a check begins, which needs no attempt',
      AT,
      work({ at: 'working' }),
      work({ at: 'gathering' }),
      { added: 1, started: 9 },
    ],
    ['it ends without ever having begun', AT, work({ at: 'working' }), work(end), { added: 1, ended: 9 }],
    ['the first start counts', STARTED, work({ at: 'working' }, 1), work({ at: 'working' }, 2), STARTED],
    ['it is judged', STARTED, work({ at: 'gathering' }, 1), work(reviewing, 1), { ...STARTED, judged: 9 }],
    [
      'it is still judged',
      { ...STARTED, judged: 5 },
      work(reviewing, 1),
      work(reviewing, 1),
      { ...STARTED, judged: 5 },
    ],
    [
      'it is judged again',
      { ...STARTED, judged: 5 },
      work({ at: 'gathering' }, 1),
      work(reviewing, 1),
      { ...STARTED, judged: 9 },
    ],
    ['it ends', STARTED, work({ at: 'gathering' }, 1), work(end, 1), { ...STARTED, ended: 9 }],
    ['it has ended', ENDED, work(end, 1), work(end, 1), ENDED],
    ['it ends otherwise', ENDED, work(end, 1), work({ ...end, as: 'failed' }, 1), { ...STARTED, ended: 9 }],
    ['it is opened again', ENDED, work(end, 1), work({ at: 'working' }, 1), STARTED],
  ])('%s', (_, at, before, after, expected) => {
    const times = timesAfter({ ...stateOf('a', {}, before), at }, after, 9);
    expect(times).toStrictEqual(expected);
    // A board shares what has not changed.
    if (times.started === at.started && times.judged === at.judged && times.ended === at.ended) expect(times).toBe(at);
  });
});
