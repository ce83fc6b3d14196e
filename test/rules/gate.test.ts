import { describe, expect, it } from 'vitest';
import { acceptEvent } from '../../src/rules/accept-event.ts';
import { applyChanges } from '../../src/rules/apply-changes.ts';
import { createBoard } from '../../src/rules/board.ts';
import { concludeRun } from '../../src/rules/conclude.ts';
import { isGateDue, isRestoreDue } from '../../src/rules/gate.ts';
import { decideNext } from '../../src/rules/next.ts';
import type { Board } from '../../src/model/plan/board.ts';
import type { PlanNews } from '../../src/model/plan/event.ts';
import type { GateFacts } from '../../src/model/plan/gate.ts';
import { factsOf, member } from '../playbooks/simulator.ts';
import { newTask } from './support.ts';

const AT = { seq: 7, at: 1_000 };
const CHECKED = { text: 'it passes', command: 'npm test' };
const LOOSE = { text: 'it is nice' };
const BOB = member('bob', 'builder');
const REX = member('rex', 'reviewer');

type Criteria = Board['facts']['objective']['criteria'];

/** A run whose playbook proposes its end. */
function proposed(criteria: Criteria, roster = [BOB]): Board {
  const objective = { title: 'Try', goals: [], criteria, constraints: [], context: '', text: '' };
  const board = createBoard(factsOf(roster, { objective }));
  return applyChanges(board, [{ do: 'finish', outcome: 'done', why: 'all is there' }], AT).board;
}

function found(more: Partial<GateFacts> = {}): GateFacts {
  return { expected: 'base', head: 'base', missing: [], commands: [], ...more };
}

function ran(purpose: 'setup' | 'verify' | 'criterion', passed: boolean): GateFacts['commands'][number] {
  return { purpose, run: 'npm test', passed, output: passed ? '' : 'it is red' };
}

function hear(board: Board, news: PlanNews) {
  return acceptEvent(board, { ...AT, ...news });
}

function look(board: Board, more: Partial<GateFacts> = {}) {
  return hear(board, { type: 'gate-checked', facts: found(more) });
}

describe('a proposed end', () => {
  it('is looked at, and is no end before', () => {
    const board = proposed([CHECKED]);
    expect([board.finished, isGateDue(board)]).toEqual([null, true]);
    const facts = { parallel: 1, limits: { reached: false }, draining: false, now: 1_000 } as const;
    expect(decideNext(board, { ...facts, patienceMs: null, pendingMail: 0 })).toMatchObject({
      next: 'wait',
      suspended: false,
    });
  });

  it('is the end once everything that was run has passed', () => {
    const { board, events } = look(proposed([CHECKED]), { commands: [ran('verify', true), ran('criterion', true)] });
    expect([board.finished, events]).toEqual([{ outcome: 'done', why: 'all is there' }, []]);
    expect(concludeRun({ board, problem: undefined, strict: true })).toMatchObject({
      headline: 'DONE, all work is delivered and verified',
      exitCode: 0,
    });
  });

  it.each([
    [undefined, 'DONE, made team'],
    [['roles/a.md'], 'DONE, completed team'],
  ])('says what became of the folder of a run that makes one: %j', (added, headline) => {
    const { board } = look(proposed([CHECKED]), { commands: [ran('criterion', true)] });
    const facts = { board, problem: undefined, made: 'team', added, strict: true };
    expect(concludeRun(facts)).toMatchObject({ headline, exitCode: 0 });
  });

  it.each([
    ['setup', 'setup: it is red'],
    ['verify', 'verify: it is red'],
    ['criterion', 'criterion: it is red'],
  ] as const)('is refused where %s fails, and the playbook hears why', (purpose, problem) => {
    const { board, events } = look(proposed([CHECKED]), { commands: [ran(purpose, false)] });
    expect(board.finished).toBeNull();
    expect(events).toMatchObject([{ type: 'gate-refused', refused: 1, problems: [problem] }]);
  });

  it('fails the run where the same head is refused again, for nothing was done about it', () => {
    const once = look(proposed([CHECKED]), { commands: [ran('criterion', false)] }).board;
    const again = applyChanges(once, [{ do: 'finish', outcome: 'done', why: 'really' }], AT).board;
    const { board, events } = look(again, { commands: [ran('criterion', false)] });
    expect(board.finished).toEqual({ outcome: 'failed', why: 'criterion: it is red' });
    expect(events).toEqual([]);
  });

  it('fails the run where delivered work is missing from the branch', () => {
    const { board } = look(proposed([CHECKED]), { missing: ['a'], commands: [ran('criterion', true)] });
    expect(board.finished).toMatchObject({ outcome: 'failed', why: expect.stringContaining('missing') as string });
  });

  it('is void once there is more work, and what was seen of it before is not believed', () => {
    const more = applyChanges(proposed([CHECKED]), [{ do: 'add-task', task: newTask('a') }], AT).board;
    expect(isGateDue(more)).toBe(false);
    expect(look(more, { commands: [ran('criterion', true)] }).board).toEqual(more);
  });

  it('is not decided on facts about another head than the one that was delivered last', () => {
    const board = proposed([CHECKED]);
    expect(look(board, { expected: 'older', head: 'older' }).board.gate).toEqual(board.gate);
    const moved = look(board, { head: 'theirs', commands: [ran('criterion', true)] }).board;
    expect([moved.finished, moved.gate.facts, isGateDue(moved)]).toEqual([null, null, false]);
    expect(moved.branch.foreign).toMatchObject({ head: 'theirs', way: null });
  });

  it('has criteria without a command judged by somebody who wrote none of the work, if there is anybody', () => {
    const alone = look(proposed([LOOSE])).board;
    expect(alone.finished).toMatchObject({ outcome: 'done' });
    expect(concludeRun({ board: alone, problem: undefined, strict: false })).toMatchObject({
      headline: 'DONE, 1 of 1 criterion not checked',
      exitCode: 0,
    });
    expect(concludeRun({ board: alone, problem: undefined, strict: true }).exitCode).toBe(1);
    const judged = look(proposed([LOOSE], [BOB, REX])).board;
    expect([judged.finished, judged.gate.at]).toEqual([null, 'judging']);
    expect(judged.tasks.get('judge')?.task).toMatchObject({
      agent: 'rex',
      owner: 'engine',
      workspace: { read: 'run' },
    });
  });
});

describe('a run branch that was moved', () => {
  const moved = look(proposed([CHECKED], [BOB, REX]), { head: 'theirs' }).board;
  const question = moved.branch.foreign?.question ?? '';
  const answer = (board: Board, text: string) =>
    hear(board, { type: 'answer', question, answer: text, by: 'dana' }).board;
  const restored: Extract<PlanNews, { type: 'branch-restored' }> = {
    type: 'branch-restored',
    restored: true,
    head: 'base',
    paths: [],
  };

  it.each([
    ['theirs', [BOB, REX], ['restore', 'take in', 'give up']],
    ['theirs', [BOB], ['restore', 'give up']],
    [null, [BOB, REX], ['restore', 'give up']],
  ])('to %s is asked about, with the ways that there are', (head, roster, options) => {
    const { questions } = look(proposed([CHECKED], roster), { head }).board;
    expect([...questions.values()].map((one) => one.options)).toEqual([options]);
  });

  it('is put back before anything else, and then looked at anew', () => {
    const chosen = answer(moved, 'restore');
    expect([isRestoreDue(chosen), isGateDue(chosen)]).toEqual([true, false]);
    const back = hear(chosen, restored).board;
    expect([isRestoreDue(back), isGateDue(back), back.tasks.size]).toEqual([false, true, 0]);
  });

  it('is taken in as a task of the engine’s, past a reviewer, before the end is looked at', () => {
    const back = hear(answer(moved, 'take in'), restored).board;
    expect(back.tasks.get('foreign')?.task).toMatchObject({ foreign: 'theirs', review: { by: ['reviewer'] } });
    expect(isGateDue(back)).toBe(false);
  });

  it('ends the run as failed for whoever gives up', () => {
    expect(answer(moved, 'give up').finished).toMatchObject({ outcome: 'failed' });
  });

  it('is asked about again where it was moved once more, or cannot be moved because it is checked out', () => {
    const chosen = answer(moved, 'restore');
    const again = hear(chosen, { ...restored, restored: false, head: 'others' }).board;
    expect(again.branch.foreign).toMatchObject({ head: 'others', way: null });
    const held = hear(chosen, { ...restored, restored: false, head: 'theirs', paths: ['/home/dana/app'] }).board;
    expect([isRestoreDue(held), held.branch.checkedOut]).toEqual([false, { question: 'engine/checked-out/7' }]);
    const free = hear(held, {
      type: 'answer',
      question: 'engine/checked-out/7',
      answer: 'try again',
      by: 'dana',
    }).board;
    expect(isRestoreDue(free)).toBe(true);
  });
});

describe('a judge who was at work when more came in', () => {
  const judging = look(proposed([LOOSE], [BOB, REX])).board;

  it('is not asked again by a person’s retry of something else', () => {
    const more = applyChanges(judging, [{ do: 'add-task', task: newTask('a') }], AT).board;
    expect([more.gate.judge, more.tasks.get('judge')?.work.phase]).toMatchObject([null, { as: 'cancelled' }]);
    const ended = applyChanges(more, [{ do: 'finish', outcome: 'failed', why: 'no' }], AT).board;
    const retry = { verb: 'retry', task: 'a', fresh: false } as const;
    const back = hear(ended, { type: 'intervention', intervention: retry, by: 'dana' }).board;
    expect([back.finished, back.tasks.get('a')?.work.phase.at]).toEqual([null, 'working']);
    expect(back.tasks.get('judge')?.work.phase.at).toBe('ended');
  });
});
