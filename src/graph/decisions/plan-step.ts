import { assertNever } from '../../model/assert-never.ts';
import type { Playbook } from '../../model/plan.ts';
import type { Board } from '../../model/plan/board.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { PlanEffect } from '../../model/plan/effect.ts';
import type { PlanEntry } from '../../model/plan/entry.ts';
import type { PlanEvent, PlanNews } from '../../model/plan/event.ts';
import type { WorkEvent } from '../../model/plan/work.ts';
import { acceptEvent } from './accept-event.ts';
import { advancePlan } from './advance-plan.ts';
import { applyChanges } from './apply-changes.ts';
import { applyWork } from './apply-work.ts';
import type { BoardStep, Moment } from './board.ts';

/** One thing that happened, as the plan sees it. */
export type PlanInput = Moment & ({ readonly task: string; readonly work: WorkEvent } | { readonly event: PlanNews });

export interface PlanStep {
  readonly board: Board;
  /** What the ledger keeps, in application order. */
  readonly entries: readonly PlanEntry[];
  readonly effects: readonly PlanEffect[];
}

type Policy = Pick<Playbook<never>, 'name' | 'advance'>;

/** Applies inputs one after the other, and lets the playbook answer each before the next. */
export function applyInputs(board: Board, playbook: Policy, inputs: readonly PlanInput[]): PlanStep {
  return inputs.reduce((step, input) => join(step, applyInput(step.board, playbook, input)), empty(board));
}

/** Changes that the engine itself wants: the plan at the start, the end of a run that nothing can move any more. */
export function changePlan(
  board: Board,
  playbook: Policy,
  changes: readonly PlanChange[],
  { seq, at }: Moment,
): PlanStep {
  const entry: PlanEntry = { entry: 'changes', seq, at, changes: [...changes] };
  return tell(applyChanges(board, changes, { seq, at }), playbook, entry, { seq, at });
}

function applyInput(board: Board, playbook: Policy, input: PlanInput): PlanStep {
  const { seq, at } = input;
  if ('work' in input) {
    // Of a task that a replayed or foreign record names: there is nothing to apply it to.
    if (!board.tasks.has(input.task)) return empty(board);
    const entry: PlanEntry = { entry: 'work', seq, at, task: input.task, event: input.work };
    return tell(applyWork(board, input.task, input.work, { seq, at }), playbook, entry, { seq, at });
  }
  const event: PlanEvent = { seq, at, ...input.event };
  return tell(acceptEvent(board, event), playbook, { entry: 'event', seq, at, event }, { seq, at });
}

function tell(step: BoardStep, playbook: Policy, entry: PlanEntry, { seq, at }: Moment): PlanStep {
  const told = advancePlan(step.board, playbook, step.events);
  const changes = told.changes.map((one): PlanEntry => ({ entry: 'changes', seq, at, changes: [...one] }));
  return {
    board: told.board,
    entries: [entry, ...changes],
    effects: [...step.effects, ...told.effects],
  };
}

function empty(board: Board): PlanStep {
  return { board, entries: [], effects: [] };
}

function join(a: PlanStep, b: PlanStep): PlanStep {
  return {
    board: b.board,
    entries: [...a.entries, ...b.entries],
    effects: [...a.effects, ...b.effects],
  };
}

/** The board as it was when the entry was stored. Effects and news are not made again. */
export function foldEntry(board: Board, entry: PlanEntry): Board {
  switch (entry.entry) {
    case 'work':
      return applyWork(board, entry.task, entry.event, entry).board;
    case 'event':
      return acceptEvent(board, entry.event).board;
    case 'changes':
      return applyChanges(board, entry.changes, entry).board;
    default:
      return assertNever(entry);
  }
}
