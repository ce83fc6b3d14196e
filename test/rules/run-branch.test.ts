import { describe, expect, it } from 'vitest';
import { draftOf, type Draft } from '../../src/rules/board.ts';
import { answerBranch, branchRestored, findCheckedOut, findForeign } from '../../src/rules/run-branch.ts';
import type { Question } from '../../src/model/plan/board.ts';
import type { RunBranch } from '../../src/model/plan/gate.ts';
import { member } from '../playbooks/simulator.ts';
import { boardWith, stateOf } from './support.ts';

const DELIVERED = 'd0000000000000000001';
const FOREIGN = 'f0000000000000000002';
const MOMENT = { seq: 7, at: 1_000 };

function draft(branch: Partial<RunBranch> = {}, reviewer = true): Draft {
  const roster = [member('bob', 'builder'), ...(reviewer ? [member('rex', 'reviewer')] : [])];
  const board = boardWith([stateOf('a')], {}, roster);
  return draftOf({ ...board, branch: { head: DELIVERED, foreign: null, checkedOut: null, ...branch } }, MOMENT);
}

/** The one question that there is. */
function question(of: Draft): Question {
  const [one, ...more] = of.questions.values();
  if (one === undefined || more.length > 0) throw new Error('not one question');
  return one;
}

describe('a run branch that something else moved', () => {
  it('is asked about once, with what each answer does', () => {
    const moved = draft();
    findForeign(moved, FOREIGN);
    const asked = question(moved);
    expect(asked).toEqual({
      id: 'engine/run-branch/7',
      text:
        'The run branch is at f00000000000, but squad last delivered d00000000000: something else moved it. ' +
        '“restore” moves it back to d00000000000 and keeps f00000000000 under refs/squad; ' +
        '“take in” has f00000000000 reviewed and merges it; ' +
        '“give up” ends the run as failed and leaves the branch alone.',
      options: ['restore', 'take in', 'give up'],
      blocks: 'run',
      by: 'engine',
      answer: null,
    });
    expect(moved.branch).toEqual({
      head: DELIVERED,
      foreign: { head: FOREIGN, question: asked.id, way: null },
      checkedOut: null,
    });
    const again = draft({ foreign: { head: FOREIGN, question: asked.id, way: null } });
    findForeign(again, 'another');
    expect(again.questions.size).toBe(0);
  });

  it.each([
    ['nobody can review it', FOREIGN, false, ' and keeps f00000000000 under refs/squad'],
    ['it is gone', null, true, ''],
  ])('cannot be taken in where %s', (_, head, reviewer, kept) => {
    const moved = draft({}, reviewer);
    findForeign(moved, head);
    const found =
      head === null
        ? 'The run branch is gone. squad last delivered d00000000000 on it.'
        : 'The run branch is at f00000000000, but squad last delivered d00000000000: something else moved it.';
    expect(question(moved)).toMatchObject({
      text: `${found} “restore” moves it back to d00000000000${kept}; “give up” ends the run as failed and leaves the branch alone.`,
      options: ['restore', 'give up'],
    });
  });
});

describe('a run branch that is checked out', () => {
  it('is asked about once, with each place', () => {
    const held = draft();
    findCheckedOut(held, ['/one', '/two']);
    expect(question(held)).toEqual({
      id: 'engine/checked-out/7',
      text:
        'The run branch is checked out in /one, /two, so no work can be delivered on it. Switch to another branch there, ' +
        'then answer “try again”; “give up” ends the run as failed.',
      options: ['try again', 'give up'],
      blocks: 'run',
      by: 'engine',
      answer: null,
    });
    expect(held.branch.checkedOut).toEqual({ question: 'engine/checked-out/7' });
    const again = draft({ checkedOut: { question: 'q' } });
    findCheckedOut(again, ['/three']);
    expect(again.questions.size).toBe(0);
  });
});

describe('an answer about the run branch', () => {
  const asked = (id: string): Question => ({
    ...{ id, text: 'It moved.', options: [], blocks: 'run', by: 'engine', answer: null },
  });
  const foreign = { head: FOREIGN, question: 'moved', way: null };

  it.each<[string, string, string, Partial<RunBranch>]>([
    ['restore', 'moved', 'restore', { foreign: { ...foreign, way: 'restore' } }],
    ['take in', 'moved', 'take in', { foreign: { ...foreign, way: 'take-in' } }],
    ['whatever else: restored', 'moved', 'well', { foreign: { ...foreign, way: 'restore' } }],
    ['it is free again', 'held', 'try again', { foreign, checkedOut: null }],
    ['to another question: nothing', 'other', 'give up', { foreign }],
  ])('%s', (_, to, answer, expected) => {
    const before = draft({ foreign, checkedOut: { question: 'held' } });
    answerBranch(before, asked(to), answer);
    expect(before.branch).toEqual({ head: DELIVERED, foreign: null, checkedOut: { question: 'held' }, ...expected });
    expect(before.finished).toBeNull();
  });

  it.each(['moved', 'held'])('give up ends the run as failed: %s', (to) => {
    const before = draft({ foreign, checkedOut: { question: 'held' } });
    answerBranch(before, asked(to), 'give up');
    expect(before.finished).toEqual({ outcome: 'failed', why: 'a person gave up on the run branch: It moved.' });
    expect(before.branch).toEqual({ head: DELIVERED, foreign: null, checkedOut: null });
  });

  it('changes nothing where nothing is asked', () => {
    const before = draft();
    answerBranch(before, asked('moved'), 'give up');
    expect([before.finished, before.branch.foreign]).toEqual([null, null]);
  });
});

describe('a run branch that was put back', () => {
  const back = { restored: true, head: DELIVERED, paths: [] };
  const taken = { head: FOREIGN, question: 'moved', way: 'take-in' } as const;

  it('becomes a task with a review where its commit is to be taken in', () => {
    const before = draft({ foreign: taken });
    branchRestored(before, back);
    expect(before.branch.foreign).toBeNull();
    expect(before.tasks.get('foreign')?.task).toEqual({
      id: 'foreign',
      title: 'Take in f00000000000, which was put on the run branch',
      role: 'engine',
      kind: 'integrate',
      needs: [],
      brief: {
        text:
          `Commit ${FOREIGN} was put on the run branch from outside this run, and the operator asked to take it in. ` +
          'Review whether it fits the objective and breaks none of the delivered work.',
      },
      workspace: 'own',
      session: 'new',
      requires: [],
      review: { by: ['reviewer'], quorum: 'all', rounds: 1, criteria: [] },
      integrate: true,
      owner: 'engine',
      foreign: FOREIGN,
    });
  });

  it.each<[string, Partial<RunBranch>, boolean]>([
    ['it is only restored', { foreign: { ...taken, way: 'restore' } }, true],
    ['it was gone', { foreign: { ...taken, head: null } }, true],
    ['nobody can review it', { foreign: taken }, false],
    ['nothing was asked', {}, true],
  ])('no task where %s', (_, branch, reviewer) => {
    const before = draft(branch, reviewer);
    branchRestored(before, back);
    expect([before.branch.foreign, before.tasks.size, before.questions.size]).toEqual([null, 1, 0]);
  });

  it('is asked about again where it was checked out meanwhile, or moved again', () => {
    const held = draft({ foreign: taken });
    branchRestored(held, { ...back, restored: false, paths: ['/one'] });
    expect([question(held).id, held.branch.foreign]).toEqual(['engine/checked-out/7', taken]);
    const moved = draft({ foreign: taken });
    branchRestored(moved, { ...back, restored: false, head: 'e0000000000000000003' });
    expect(moved.branch.foreign).toEqual({ head: 'e0000000000000000003', question: 'engine/run-branch/7', way: null });
    const unasked = draft();
    branchRestored(unasked, { ...back, restored: false, paths: ['/one'] });
    expect(unasked.questions.size).toBe(0);
  });
});
