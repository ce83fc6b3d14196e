import { describe, expect, it } from 'vitest';
import { factsOf, member, rejects, simulate } from '../../playbooks/simulator.ts';
import { createView } from '../../../src/graph/decisions/view.ts';
import { newTask } from './support.ts';

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
