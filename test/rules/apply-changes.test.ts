import { describe, expect, it } from 'vitest';
import { acceptEvent } from '../../src/rules/accept-event.ts';
import { applyChanges, type ChangesStep } from '../../src/rules/apply-changes.ts';
import { applyWork } from '../../src/rules/plan-step.ts';
import { unwantedAttempts } from '../../src/rules/work-requests.ts';
import { createBoard } from '../../src/rules/board.ts';
import { createView } from '../../src/rules/view.ts';
import { DEFAULT_PLAN_LIMITS, type Board } from '../../src/model/plan/board.ts';
import { planChangeSchema, type PlanChange } from '../../src/model/plan/change.ts';
import type { PlanNews } from '../../src/model/plan/event.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import { factsOf, member } from '../playbooks/simulator.ts';
import { newTask, REVIEWED } from './support.ts';

const ROSTER = [member('bob', 'builder'), member('rex', 'reviewer')];
const AT = { seq: 7, at: 1_000 };

function add(task: NewTask): PlanChange {
  return { do: 'add-task', task };
}

/** a ← b ← c; `d` is live. */
function board(limits = DEFAULT_PLAN_LIMITS): Board {
  const plan = [newTask('a'), newTask('b', { needs: ['a'] }), newTask('c', { needs: ['b'] }), newTask('d')];
  const made = applyChanges(createBoard(factsOf(ROSTER, { limits })), plan.map(add), AT).board;
  const started = { attempt: 'd-1', agent: 'bob', account: 'x', session: 's', review: null } as const;
  return applyWork(made, 'd', { type: 'attempt-started', ...started }, AT).board;
}

function apply(...changes: PlanChange[]): ChangesStep {
  return applyChanges(board(), changes, AT);
}

const SEND: PlanChange = { do: 'send', to: ['A'], type: 'send', key: 'k', body: {} };
const SETTLE = { do: 'settle-task', id: 'a', as: 'skipped', why: 'w' } as const;
const REOPEN = { do: 'reopen-task', id: 'a', feedback: 'f', session: 'same' } as const;
const FINISH = { do: 'finish', outcome: 'done', why: 'w' } as const;
const GIVE_UP = { do: 'finish', outcome: 'failed', why: 'w' } as const;

describe('applyChanges refuses', () => {
  it.each<[string, PlanChange[], string]>([
    ['an id that is no slug', [add(newTask('../x'))], 'a task id is a slug'],
    ['a duplicate', [add(newTask('a'))], 'there is a task a already'],
    ['an unknown need', [add(newTask('x', { needs: ['nope'] }))], 'there is no task nope'],
    ['a need of itself', [add(newTask('x', { needs: ['x'] }))], 'x would need itself'],
    ['an unknown session', [add(newTask('x', { session: { of: 'nope' } }))], 'there is no task nope'],
    ['a base that is no need', [add(newTask('x', { base: 'a' }))], 'not among its needs'],
    ['a role that nobody has', [add(newTask('x', { role: 'wizard' }))], 'no agent has the role wizard'],
    ['an unknown agent', [add(newTask('x', { agent: 'eve' }))], 'there is no agent eve'],
    ['a review without a folder', [add(newTask('x', { ...REVIEWED, workspace: 'none' }))], 'a folder of its own'],
    ['an empty check', [add(newTask('x', { kind: 'check', integrate: false, requires: [] }))], 'requires something'],
    ['an integration of nothing', [add(newTask('x', { kind: 'integrate' }))], 'names the task'],
    ['a circle', [{ do: 'edit-task', id: 'a', needs: ['c'] }], 'a would need itself'],
    ['an edit of nothing', [{ do: 'edit-task', id: 'nope' }], 'there is no task nope'],
    ['new needs for live work', [{ do: 'edit-task', id: 'd', needs: ['a'] }], 'd is at work'],
    ['an edit after the end', [SETTLE, { do: 'edit-task', id: 'a' }], 'a has ended'],
    ['a second end', [SETTLE, SETTLE], 'a has ended'],
    [
      'an end of what is being stopped',
      [
        { ...SETTLE, id: 'd' },
        { ...SETTLE, id: 'd' },
      ],
      'd is being stopped',
    ],
    ['reopening what is at work', [REOPEN], 'a is still at work'],
    ['a round too many', [SETTLE, REOPEN, SETTLE, REOPEN, SETTLE, REOPEN, SETTLE, REOPEN], 'a has used its 4 rounds'],
    ['an engine timer', [{ do: 'set-timer', id: 'engine/x', at: 1 }], 'must not begin with engine/'],
    ['an unknown message', [{ do: 'refuse-mail', message: 'm', reason: 'r' }], 'there is no message m'],
    ['the same message twice', [SEND, SEND], 'k was sent before'],
    ['a reply to nothing', [{ ...SEND, corrKey: 'nope' }], 'nothing was sent as nope'],
    ['the end of an unknown ask', [{ do: 'close-ask', message: 'm', by: 'A' }], 'there is no message m'],
    ['more after the end', [GIVE_UP, add(newTask('x'))], 'the run has finished'],
    ['a timer without an id', [{ do: 'set-timer', id: '', at: 1 }], 'an id is required'],
    ['a record without an id', [{ do: 'put', in: 'backlog', id: '', value: 1 }], 'an id is required'],
    ['a record of nothing', [{ do: 'put', in: '', id: 'x', value: 1 }], 'an id is required'],
  ])('%s', (_title, changes, why) => {
    const before = board();
    const step = applyChanges(before, changes, AT);
    expect(step.refused).toHaveLength(1);
    expect(step.refused[0]?.why).toContain(why);
    expect(step.events.filter((event) => event.type === 'refused')).toHaveLength(1);
    // A refused change changes nothing.
    expect(step.board).toEqual(applyChanges(before, changes.slice(0, -1), AT).board);
    // It is stored all the same, and a ledger that cannot be read again is lost.
    expect(planChangeSchema.array().parse(JSON.parse(JSON.stringify(changes)))).toEqual(changes);
  });

  it('more tasks and deeper ones than the caps allow', () => {
    const few = applyChanges(board({ ...DEFAULT_PLAN_LIMITS, tasks: 4 }), [add(newTask('x'))], AT);
    expect(few.refused[0]?.why).toBe('a plan has at most 4 tasks');
    const nested = ['p', 'q', 'r', 's', 't'].map((id, index, all) =>
      add(newTask(id, { parent: index === 0 ? 'a' : (all[index - 1] ?? 'a') })),
    );
    expect(apply(...nested).refused.map(({ why }) => why)).toEqual([
      's would be 4 levels deep; 3 are allowed',
      'there is no task s',
    ]);
  });
});

describe('applyChanges', () => {
  it('cancels a live attempt before its task ends, whatever the attempt still says', () => {
    const step = apply({ ...SETTLE, id: 'd', as: 'cancelled' });
    expect(unwantedAttempts(step.board)).toEqual([{ attempt: 'd-1', why: 'w' }]);
    expect(createView(step.board).task('d')?.status).toBe('live');
    const settled = { type: 'attempt-settled', attempt: 'd-1', outcome: 'completed', text: 'done' } as const;
    const after = applyWork(step.board, 'd', settled, AT);
    expect(createView(after.board).task('d')?.status).toBe('cancelled');
    expect(after.events).toMatchObject([{ type: 'task-failed', task: 'd', cause: 'cancelled', seq: 7, at: 1_000 }]);
  });

  it.each([
    ['done', FINISH, null],
    ['failed', GIVE_UP, { outcome: 'failed', why: 'w' }],
  ])('stops everything else for an end as %s, which only the engine lets pass as done', (_as, change, finished) => {
    const step = apply(change);
    expect(unwantedAttempts(step.board)).toMatchObject([{ attempt: 'd-1' }]);
    expect(step.board.finished).toEqual(finished);
    expect(step.board.gate.at).toBe(finished === null ? 'checking' : 'idle');
    const view = createView(step.board);
    expect(view.tasks().map((task) => task.status)).toEqual(['cancelled', 'cancelled', 'cancelled', 'live']);
    expect(view.tasks({ ended: false }).map((task) => task.id)).toEqual(['d']);
    expect(view.tasks({ ended: true })).toHaveLength(3);
  });

  it('keeps records', () => {
    const put = { do: 'put', in: 'r', id: 'i', value: { n: 1 } } as const;
    const step = apply(put);
    expect(createView(step.board).record('r', 'i')).toEqual({ n: 1 });
    const gone = applyChanges(step.board, [{ ...put, value: null }], AT);
    expect(createView(gone.board).records('r')).toEqual([]);
  });

  it('knows which mail is unanswered', () => {
    const mail: PlanNews = { type: 'mail', id: 'm', from: 'A', to: ['MAIN'], kind: 'ask', action: 'clarify', body: {} };
    const step = acceptEvent(board(), { ...mail, seq: 8, at: 1 });
    expect(createView(step.board).unanswered('MAIN')).toMatchObject([{ id: 'm' }]);
    expect(createView(step.board).unanswered('B')).toEqual([]);
    expect(acceptEvent(step.board, { ...mail, seq: 9, at: 1 }).events).toEqual([]);
    const reply: PlanChange = { ...SEND, action: 'answer', corr: 'm' };
    expect(createView(applyChanges(step.board, [reply], AT).board).unanswered()).toEqual([]);
  });
});
