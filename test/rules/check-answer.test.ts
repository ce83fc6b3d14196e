import { expect, it } from 'vitest';
import { applyChanges } from '../../src/rules/apply-changes.ts';
import { createBoard } from '../../src/rules/board.ts';
import { applyInputs, foldEntry } from '../../src/rules/plan-step.ts';
import { statusOf } from '../../src/rules/work-status.ts';
import type { Board } from '../../src/model/plan/board.ts';
import { planEntrySchema } from '../../src/model/plan/entry.ts';
import type { WorkEvent } from '../../src/model/plan/work.ts';
import type { Json } from '../../src/text/json.ts';
import { factsOf, member } from '../playbooks/simulator.ts';
import { newTask } from './support.ts';

const AT = { seq: 1, at: 1_000 };
/** Takes no answer but `right`. */
const PICKY = {
  name: 'picky',
  advance: () => [],
  answers: {
    form: {
      schema: {},
      read: (_: unknown, answer: Json) => (answer === 'right' ? {} : { problems: ['no form', 'too long'] }),
    },
  },
};

const TASK = newTask('a', {
  workspace: 'none',
  integrate: false,
  requires: [],
  output: { schema: 'form', repairs: 1 },
});
const PLANNED = applyChanges(createBoard(factsOf([member('bob', 'builder')])), [{ do: 'add-task', task: TASK }], AT);

/** The board after a turn with this answer. The same entries, read from the ledger without a playbook, make the same board. */
function afterTurn(board: Board, number: number, answer: Json, playbook = PICKY): Board {
  const attempt = `a-${number}`;
  const events: WorkEvent[] = [
    { type: 'attempt-started', attempt, agent: 'bob', account: 'bob', session: 's', review: null },
    { type: 'attempt-settled', attempt, outcome: 'completed', text: '', output: answer },
  ];
  const step = applyInputs(
    board,
    playbook,
    events.map((work) => ({ ...AT, task: 'a', work })),
  );
  const stored = planEntrySchema.array().parse(JSON.parse(JSON.stringify(step.entries)));
  expect(stored.reduce(foldEntry, board)).toEqual(step.board);
  return step.board;
}

it('sends an answer that the playbook refuses back to its author, who hears why', () => {
  const board = afterTurn(PLANNED.board, 1, 'wrong');
  const { work } = board.tasks.get('a')!;
  expect(work).toMatchObject({ output: null, phase: { at: 'working' } });
  expect(work.author.prompt).toEqual({ why: 'repair', text: 'no form\ntoo long' });

  const repaired = afterTurn(board, 2, 'right').tasks.get('a')!;
  expect(repaired.work).toMatchObject({ output: 'right', phase: { at: 'ended', as: 'done' } });
});

it('fails a task whose answer is refused more often than it may be repaired', () => {
  const board = afterTurn(afterTurn(PLANNED.board, 1, 'wrong'), 2, 'wrong');
  const state = board.tasks.get('a')!;
  expect(statusOf(state, board)).toBe('failed');
  expect(state.work).toMatchObject({
    output: null,
    phase: { cause: 'bad-output', why: 'bad-output: no form\ntoo long' },
  });
});

it('takes every answer of its form for a playbook that has nothing against it', () => {
  const { answers: _, ...easy } = PICKY;
  expect(afterTurn(PLANNED.board, 1, 'wrong', easy as typeof PICKY).tasks.get('a')!.work.output).toBe('wrong');
});
