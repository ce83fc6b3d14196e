import { describe, expect, it } from 'vitest';
import type { Board } from '../../src/model/plan/board.ts';
import type { PlanNews } from '../../src/model/plan/event.ts';
import { createPlaybook } from '../../src/playbooks/registry.ts';
import { factsOf, member, simulate, type Played, type Turn } from './simulator.ts';

const TEAM = [
  member('pm', 'pm'),
  member('ba', 'ba'),
  member('builder-1', 'builder'),
  member('builder-2', 'builder'),
  member('reviewer', 'reviewer'),
];

const ASSIGN: Extract<PlanNews, { type: 'mail' }> = {
  type: 'mail',
  id: 'sess-1-9',
  from: 'MAIN',
  to: ['builder'],
  kind: 'ask',
  action: 'assign',
  task: 'EXTRA-1',
  body: { task_type: 'implement', files: [], success_criteria: ['it is there'], dependencies: [] },
};
const ADDED = 'mail-9-builder';

function play(
  when: (board: Board) => boolean,
  turn?: (one: Turn) => { output: { approved: boolean } } | undefined,
): Played {
  const objective = {
    title: 'Try',
    goals: [],
    criteria: [{ text: 'it works', command: 'true' }],
    constraints: [],
    context: '',
    text: 'Build it.',
  };
  const facts = factsOf(TEAM, { objective, verifies: false });
  const playbook = createPlaybook({}, 'objective');
  const parsed = playbook?.parse({ ...facts, files: [] });
  if (playbook === undefined || parsed?.ok !== true) throw new Error('no playbook');
  let sent = false;
  return simulate({
    facts,
    playbook,
    plan: playbook.plan(parsed.input),
    script: {
      outside: (board) => {
        if (sent || !when(board)) return undefined;
        sent = true;
        return ASSIGN;
      },
      turn: (one) =>
        turn?.(one) ?? (one.task === 'post-review' ? { output: { approved: true, summary: 'good' } } : undefined),
    },
  });
}

const live = (task: string) => (board: Board) => board.tasks.get(task)?.work.author.state.at === 'live';
const order = (played: Played) => played.events.flatMap((one) => (one.type === 'task-done' ? [one.task] : []));

describe('work by mail in objective', () => {
  it('is reviewed, and waited for by the stages that judge the whole', () => {
    const played = play(live('implementation-1'));
    expect(played.board.tasks.get(ADDED)?.task).toMatchObject({ integrate: true, review: { by: ['reviewer'] } });
    expect(played.board.tasks.get('test')?.task.needs).toContain(ADDED);
    expect(order(played).slice(-2)).toEqual(['test', 'post-review']);
    expect(played.end).toMatchObject({ outcome: 'done', why: 'good' });
  });

  it('has the whole judged again where it comes last, and is not cut off', () => {
    const played = play(live('post-review'));
    expect(order(played).slice(-4)).toEqual(['post-review', ADDED, 'test', 'post-review']);
    expect(played.end).toMatchObject({ outcome: 'done' });
  });

  it('that is rejected fails the run, whatever the last review said', () => {
    const played = play(live('post-review'), ({ task, review }) =>
      task === ADDED && review !== null
        ? { output: { approved: false, summary: 'no', findings: [{ text: 'no test', criterion: 0, repeated: false }] } }
        : undefined,
    );
    expect(played.end).toMatchObject({ outcome: 'failed', why: expect.stringContaining(ADDED) });
  });
});
