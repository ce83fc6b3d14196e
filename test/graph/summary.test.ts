import { expect, it } from 'vitest';
import { applyChanges } from '../../src/rules/apply-changes.ts';
import { applyWork } from '../../src/rules/plan-step.ts';
import { createBoard } from '../../src/rules/board.ts';
import { summaryOf } from '../../src/graph/nodes/node-context.ts';
import { DEFAULT_PLAN_LIMITS, type Board } from '../../src/model/plan/board.ts';
import { newTask } from '../rules/support.ts';

const AT = { seq: 1, at: 1 };

/** A plan of so many tasks, the first of which were skipped. */
function boardOf(tasks: number, skipped: number): Board {
  const objective = { title: '', goals: [], criteria: [], constraints: [], context: '', text: '' };
  const roster = [{ name: 'bob', role: 'builder', account: 'bob', commits: true }];
  const facts = {
    objective,
    options: {},
    roster,
    runtimes: {},
    judges: ['reviewer', 'member'],
    limits: DEFAULT_PLAN_LIMITS,
    verifies: false,
    base: 'base',
  };
  const ids = Array.from({ length: tasks }, (_, index) => `t-${index + 1}`);
  const planned = applyChanges(
    createBoard(facts),
    ids.map((id) => ({ do: 'add-task', task: newTask(id) })),
    AT,
  ).board;
  const skip = { type: 'settle-asked', as: 'skipped', why: 'not needed' } as const;
  return ids.slice(0, skipped).reduce((board, id) => applyWork(board, id, skip, AT).board, planned);
}

it('shows every task of a small plan', () => {
  const { board, counts } = summaryOf(boardOf(3, 2));
  expect(board).toEqual(['t-1: skipped', 't-2: skipped', 't-3: ready']);
  expect(counts).toEqual({ tasks: 3, ended: 2, live: 0, turns: 0 });
});

it('shows of a large plan what has not ended, and never more than 200 lines', () => {
  expect(summaryOf(boardOf(1000, 998)).board).toEqual(['t-999: ready', 't-1000: ready']);
  expect(summaryOf(boardOf(1000, 1)).board).toHaveLength(200);
});
