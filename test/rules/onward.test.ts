import { expect, it } from 'vitest';
import { applyChanges } from '../../src/rules/apply-changes.ts';
import { createBoard } from '../../src/rules/board.ts';
import { decideNext, type NextFacts } from '../../src/rules/next.ts';
import { decideOnward, isIntegrating, mayHoldQueue } from '../../src/rules/onward.ts';
import { applyWork } from '../../src/rules/plan-step.ts';
import type { Board } from '../../src/model/plan/board.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import type { Phase, WorkEvent } from '../../src/model/plan/work.ts';
import { factsOf, member } from '../playbooks/simulator.ts';
import { FACTS, newTask, REVIEWED, stateOf } from './support.ts';

const AT = { seq: 1, at: 1_000 };
const FREE: NextFacts = {
  parallel: 4,
  limits: { reached: false },
  now: 1_000,
  draining: false,
  patienceMs: null,
  pendingMail: 0,
};
const COMMIT = { commit: 'c1', since: 1 };
const SEEN: WorkEvent = { type: 'evidence-gathered', facts: FACTS };

/** Each task's author has said that it is done. */
function answered(...tasks: NewTask[]): Board {
  const roster = [member('bob', 'builder'), member('rex', 'reviewer')];
  const board = createBoard(factsOf(roster));
  const changes = tasks.map((task) => ({ do: 'add-task', task }) as const);
  return tasks.reduce(
    (before, { id }) => {
      const who = { agent: 'bob', account: 'bob', session: id, review: null } as const;
      const live = applyWork(before, id, { type: 'attempt-started', attempt: `${id}-1`, ...who }, AT).board;
      return tell(live, id, { type: 'attempt-settled', attempt: `${id}-1`, outcome: 'completed', text: '' });
    },
    applyChanges(board, changes, AT).board,
  );
}

function tell(board: Board, task: string, ...events: WorkEvent[]): Board {
  return events.reduce((before, event) => applyWork(before, task, event, AT).board, board);
}

function integrated(board: Board, facts = FREE): string | null {
  const next = decideNext(board, facts);
  return next.next === 'start' ? next.integrate : null;
}

function phaseOf(board: Board, task: string): Phase | undefined {
  return board.tasks.get(task)?.work.phase;
}

it.each<[string, NewTask, string | null]>([
  ['work without a review', newTask('a'), 'a'],
  ['work that has to have files and a commit', newTask('a', { requires: [{ kind: 'file', path: 'x' }] }), 'a'],
  ['work that is reviewed first', newTask('a', REVIEWED), null],
  ['work that is not integrated', newTask('a', { integrate: false }), null],
  ['work whose command may take minutes', newTask('a', { requires: [{ kind: 'command', run: 'x' }] }), null],
  ['work that waits for a forge', newTask('a', { requires: [{ kind: 'pr' }] }), null],
])('while its evidence is gathered, the queue is given to %s: %#', (_, task, expected) => {
  expect(integrated(answered(task))).toBe(expected);
});

it('gives the queue to one task, and to the tasks that wait in it first', () => {
  const two = answered(newTask('a'), newTask('b'));
  const held = tell(two, 'a', { type: 'integration-started' });
  expect(phaseOf(held, 'a')).toEqual({ at: 'gathering', holdsQueue: true });
  expect(integrated(held)).toBeNull();
  expect(integrated(tell(held, 'b', SEEN))).toBeNull();
  expect(integrated(tell(two, 'b', SEEN))).toBe('b');
});

it('gives it to no task while the run may not start anything or its branch was moved', () => {
  const board = answered(newTask('a'));
  expect(integrated(board, { ...FREE, draining: true })).toBeNull();
  const foreign = { head: 'theirs', question: 'q', way: null };
  expect(integrated({ ...board, branch: { ...board.branch, foreign } })).toBeNull();
});

it('takes work that holds the queue to its integration, and frees the queue of work that goes back', () => {
  const held = tell(answered(newTask('a'), newTask('b')), 'a', { type: 'integration-started' });
  expect(phaseOf(tell(held, 'a', SEEN), 'a')).toMatchObject({ at: 'integrating', commit: 'c1' });
  const back = tell(held, 'a', { type: 'evidence-gathered', facts: { ...FACTS, changedPaths: [], commit: null } });
  expect(phaseOf(back, 'a')).toEqual({ at: 'working' });
  expect(integrated(back)).toBe('b');
});

it.each<[Phase, ReturnType<typeof decideOnward>]>([
  [{ at: 'integrating', ...COMMIT }, 'at-once'],
  [{ at: 'advancing', candidate: 'm1', ...COMMIT }, 'recorded'],
  [{ at: 'verifying', candidate: 'm1', ...COMMIT }, 'later'],
  [{ at: 'in-queue', ...COMMIT }, 'later'],
  [{ at: 'gathering' }, 'later'],
  [{ at: 'reviewing', commit: 'c1', slots: [] }, 'later'],
  [{ at: 'working' }, 'later'],
  [{ at: 'stopping', as: 'cancelled', why: '' }, 'later'],
  [{ at: 'ended', as: 'done', cause: null, why: '' }, 'later'],
])('an operation that comes to %o goes on %s', (phase, expected) => {
  expect(decideOnward(phase)).toBe(expected);
});

it.each<[Phase, boolean]>([
  [{ at: 'gathering' }, false],
  [{ at: 'gathering', holdsQueue: true }, true],
  [{ at: 'integrating', ...COMMIT }, true],
  [{ at: 'verifying', candidate: 'm1', ...COMMIT }, true],
  [{ at: 'advancing', candidate: 'm1', ...COMMIT }, true],
  [{ at: 'in-queue', ...COMMIT }, false],
  [{ at: 'working' }, false],
])('a task is being integrated at %o: %j', (phase, expected) => expect(isIntegrating(phase)).toBe(expected));

it.each<[string, Partial<NewTask>, Phase, boolean]>([
  ['work', {}, { at: 'gathering' }, true],
  ['only while its evidence is gathered', {}, { at: 'working' }, false],
  ['no check', { kind: 'check' }, { at: 'gathering' }, false],
  ['nothing with one slow requirement', { requires: [{ kind: 'diff' }, { kind: 'pr' }] }, { at: 'gathering' }, false],
  [
    'nothing with a command',
    { requires: [{ kind: 'command', run: 'x' }, { kind: 'diff' }] },
    { at: 'gathering' },
    false,
  ],
])('may hold the queue: %s', (_, task, phase, expected) => {
  expect(mayHoldQueue(stateOf('a', task, { phase }))).toBe(expected);
});
