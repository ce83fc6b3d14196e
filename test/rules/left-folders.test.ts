import { expect, it } from 'vitest';
import { applyChanges } from '../../src/rules/apply-changes.ts';
import { createBoard } from '../../src/rules/board.ts';
import { leftFolders } from '../../src/rules/left-folders.ts';
import type { TaskState } from '../../src/model/plan/board.ts';
import type { NewTask, TaskEnd } from '../../src/model/plan/task.ts';
import { newWork } from '../../src/rules/work.ts';
import type { Work } from '../../src/model/plan/work.ts';
import { factsOf, member } from '../playbooks/simulator.ts';
import { newTask } from './support.ts';

const DONE = ended('done');
const REVIEWED_BY = { reviewers: { reviewer: { key: 'k', agent: 'rex' } } };

function ended(as: TaskEnd): Partial<Work> {
  return { phase: { at: 'ended', as, cause: null, why: '' } };
}

function left(work: Partial<Work>, task: Partial<NewTask> = {}, others: NewTask[] = []): readonly string[] | 'later' {
  const state: TaskState = {
    task: newTask('a', task),
    order: 0,
    depth: 0,
    at: { added: 0 },
    work: { ...newWork(), ...work },
  };
  const changes = others.map((other) => ({ do: 'add-task', task: other }) as const);
  const board = createBoard(factsOf([member('bob', 'builder')]));
  return leftFolders(
    state,
    applyChanges({ ...board, tasks: board.tasks.with(state) }, changes, { seq: 1, at: 1 }).board,
  );
}

// Looked up while the test runs, not while its file is read.
it.each<[string, () => ReturnType<typeof left>, ReturnType<typeof left>]>([
  ['its own, once it is done', () => left(DONE), ['a']],
  ['its reviewers’ too', () => left({ ...DONE, ...REVIEWED_BY }), ['a', '0-a-by-reviewer']],
  ['one that it only read in', () => left(DONE, { workspace: { read: 'run' } }), ['a']],
  ['none where it had none', () => left(DONE, { workspace: 'none' }), []],
  ['none while it is at work', () => left({}), []],
  ['none if it failed, because a person may retry it', () => left(ended('failed')), []],
  ['none if it was cancelled or skipped', () => [left(ended('cancelled')), left(ended('skipped'))].flat(), []],
  ['its own while another task needs its work', () => left(DONE, {}, [newTask('b', { needs: ['a'] })]), ['a']],
  [
    'none yet while its test may send it back',
    () => left(DONE, {}, [newTask('b', { needs: ['a'], parent: 'a' })]),
    'later',
  ],
  ['none yet while its hand-off may', () => left(DONE, {}, [newTask('b', { needs: ['a'], base: 'a' })]), 'later'],
  [
    'none yet while a turn of it is being stopped',
    () => left({ ...DONE, leaving: [{ attempt: 'a-2', agent: 'rex', session: 's' }] }),
    'later',
  ],
])('a task leaves %s', (_, found, expected) => {
  expect(found()).toEqual(expected);
});
