import { describe, expect, it } from 'vitest';
import { commitOf, decideBase, decideHead, isHandOff } from '../../src/rules/base.ts';
import type { TaskState } from '../../src/model/plan/board.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import type { Work } from '../../src/model/plan/work.ts';
import { boardWith, endedAs, newTask, REVIEWED, stateOf } from './support.ts';

const COMMITS: Partial<NewTask> = { base: 'a', requires: [{ kind: 'commit' }] };
const done = (commit: string | null): Partial<Work> => ({ ...endedAs('done'), commit });

describe('a task that only commits the work of another', () => {
  it.each<[string, Partial<NewTask>, boolean]>([
    ['starts from a task, and owes a commit', COMMITS, true],
    ['may owe more than a commit', { ...COMMITS, requires: [{ kind: 'file', path: 'x' }, { kind: 'commit' }] }, true],
    ['starts from no task', { requires: [{ kind: 'commit' }] }, false],
    ['owes no commit', { base: 'a', requires: [{ kind: 'file', path: 'x' }] }, false],
    ['owes nothing', { base: 'a', requires: [] }, false],
    ['owes a change of its own', { base: 'a', requires: [{ kind: 'commit' }, { kind: 'diff' }] }, false],
    ['has no folder of its own', { ...COMMITS, workspace: { read: 'a' } }, false],
    ['is reviewed', { ...COMMITS, ...REVIEWED }, false],
  ])('%s', (_name, more, expected) => expect(isHandOff(newTask('b', more))).toBe(expected));
});

describe('where HEAD of a folder has to be', () => {
  const maker = stateOf('a', {}, { base: 'before', round: 2 });
  const handOff = (work: Partial<Work> = {}): TaskState => stateOf('b', COMMITS, { round: 2, ...work });
  it.each<[string, string, readonly TaskState[], string | undefined]>([
    ['below the work that it commits', 'b', [maker, handOff()], 'before'],
    ['anywhere, if that work has no base', 'b', [stateOf('a'), handOff()], undefined],
    ['anywhere, if that work is gone', 'b', [handOff()], undefined],
    ['at the commit that the hand-off made of it', 'a', [maker, handOff({ commit: 'made' })], 'made'],
    ['anywhere, if none was made', 'a', [maker, handOff()], undefined],
    ['anywhere in the first round', 'a', [stateOf('a'), handOff({ commit: 'made' })], undefined],
    ['anywhere, if another task was handed over', 'a', [maker, stateOf('c', { ...COMMITS, base: 'x' })], undefined],
    [
      'anywhere, if a task that starts from it does more than commit',
      'a',
      [maker, stateOf('c', { base: 'a' }, { commit: 'made' })],
      undefined,
    ],
    [
      'anywhere in a folder that others share',
      'b',
      [maker, stateOf('b', { ...COMMITS, workspace: { read: 'a' } }, { round: 2 })],
      undefined,
    ],
  ])('%s', (_name, id, states, expected) => {
    const board = boardWith(states);
    expect(decideHead(board.tasks.get(id) ?? stateOf(id), board)).toBe(expected);
  });

  it('is anywhere in a folder that only reads, although its work was handed over', () => {
    const read = stateOf('a', { workspace: 'none' }, { round: 2 });
    expect(decideHead(read, boardWith([read, handOff({ commit: 'made' })]))).toBeUndefined();
  });
});

describe('the commit at which a folder starts', () => {
  const states = [stateOf('a', {}, done('c1')), stateOf('open'), stateOf('skipped', {}, endedAs('skipped'))];
  it.each<[string, Partial<NewTask>, object]>([
    ['the run branch', {}, { base: 'run-head' }],
    ['the run branch, to read it', { workspace: { read: 'run' } }, { base: 'run-head' }],
    ['no folder', { workspace: 'none' }, { base: 'none' }],
    ['a commit, though it has no folder', { workspace: 'none', base: 'a' }, { base: 'commit', commit: 'c1' }],
    ['the commit of a task', { base: 'a', needs: ['a'] }, { base: 'commit', commit: 'c1' }],
    ['the commit of a task, to read it', { workspace: { read: 'a' } }, { base: 'commit', commit: 'c1' }],
    ['the run branch, where a task has no commit', { base: 'skipped' }, { base: 'run-head' }],
    ['not yet', { needs: ['open', 'a', 'gone'], workspace: 'none' }, { base: 'not-yet', why: 'waits for open, gone' }],
  ])('%s', (_name, more, expected) => expect(decideBase(newTask('b', more), boardWith(states))).toEqual(expected));
});

describe('the commit that a task hands on', () => {
  it.each<[string, readonly TaskState[], string | null]>([
    ['what it delivered', [stateOf('a', {}, done('c1'))], 'c1'],
    ['nothing, if it changed nothing', [stateOf('a', {}, done(null))], null],
    ['nothing, if it was skipped', [stateOf('a', {}, { ...endedAs('skipped'), commit: 'c1' })], null],
    ['nothing before its end', [stateOf('a', {}, { commit: 'c1' })], null],
    ['nothing, if there is no such task', [], null],
  ])('%s', (_name, states, expected) => expect(commitOf('a', boardWith(states))).toBe(expected));
});
