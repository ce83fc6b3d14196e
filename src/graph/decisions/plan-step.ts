import { assertNever } from '../../model/assert-never.ts';
import type { Playbook } from '../../model/plan.ts';
import type { Board } from '../../model/plan/board.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { PlanEffect } from '../../model/plan/effect.ts';
import type { PlanEntry } from '../../model/plan/entry.ts';
import type { PlanEvent, PlanNews, PlaybookEvent } from '../../model/plan/event.ts';
import type { WorkEvent } from '../../model/plan/work.ts';
import { acceptEvent } from './accept-event.ts';
import { applyChanges } from './apply-changes.ts';
import {
  draftOf,
  finishDraft,
  withEntry,
  withoutEntry,
  workOn,
  type BoardStep,
  type Draft,
  type Moment,
} from './board.ts';
import { findCheckedOut, findForeign } from './run-branch.ts';
import { createView } from './view.ts';

/** One thing that happened, as the plan sees it. */
export type PlanInput = Moment & ({ readonly task: string; readonly work: WorkEvent } | { readonly event: PlanNews });

export interface PlanStep {
  readonly board: Board;
  /** What the ledger keeps, in application order. */
  readonly entries: readonly PlanEntry[];
  readonly effects: readonly PlanEffect[];
}

type Policy = Pick<Playbook<never>, 'name' | 'advance'>;

export interface PlanAdvance {
  readonly board: Board;
  readonly effects: readonly PlanEffect[];
  /** In the order applied: what the ledger keeps. */
  readonly changes: readonly (readonly PlanChange[])[];
}

/** Longer chains of changes that make news that makes changes are a playbook going in circles. */
const MOST_EVENTS = 4_000;
/** How often one input may have changes refused before that is the end. */
const MOST_REFUSALS = 100;

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
  return advance(applyChanges(board, changes, { seq, at }), playbook, entry, { seq, at });
}

function applyInput(board: Board, playbook: Policy, input: PlanInput): PlanStep {
  const { seq, at } = input;
  if ('work' in input) {
    // Of a task that a replayed or foreign record names: there is nothing to apply it to.
    if (!board.tasks.has(input.task)) return empty(board);
    const entry: PlanEntry = { entry: 'work', seq, at, task: input.task, event: input.work };
    return advance(applyWork(board, input.task, input.work, { seq, at }), playbook, entry, { seq, at });
  }
  const event: PlanEvent = { seq, at, ...input.event };
  return advance(acceptEvent(board, event), playbook, { entry: 'event', seq, at, event }, { seq, at });
}

function advance(step: BoardStep, playbook: Policy, entry: PlanEntry, { seq, at }: Moment): PlanStep {
  const advanced = advancePlan(step.board, playbook, step.events);
  const changes = advanced.changes.map((one): PlanEntry => ({ entry: 'changes', seq, at, changes: [...one] }));
  return {
    board: advanced.board,
    entries: [entry, ...changes],
    effects: [...step.effects, ...advanced.effects],
  };
}

/** The playbook answers one event after the other until it has no more changes. */
export function advancePlan(board: Board, playbook: Policy, news: readonly PlaybookEvent[]): PlanAdvance {
  const effects: PlanEffect[] = [];
  const changes: PlanChange[][] = [];
  const queue = [...news];
  let current = board;
  let refusals = 0;
  for (let index = 0; index < queue.length; index += 1) {
    const event = queue[index];
    if (event === undefined) break;
    if (event.type === 'refused') refusals += 1;
    const circling = index >= MOST_EVENTS || refusals > MOST_REFUSALS;
    const wanted = circling
      ? [{ do: 'finish', outcome: 'failed', why: `playbook ${playbook.name} goes in circles` } as const]
      : playbook.advance(createView(current), event);
    if (wanted.length > 0) {
      const step = applyChanges(current, wanted, event);
      changes.push([...wanted]);
      effects.push(...step.effects);
      current = step.board;
      if (!circling) queue.push(...step.events);
    }
    if (circling) break;
  }
  return { board: current, effects, changes };
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

/** Applies one event to one task. Throws for an unknown task, which is a bug of the caller. */
export function applyWork(board: Board, taskId: string, event: WorkEvent, moment: Moment): BoardStep {
  const draft = draftOf(board, moment);
  trackProbe(draft, event);
  workOn(draft, taskId, event);
  if (event.type === 'branch-foreign') findForeign(draft, event.head);
  if (event.type === 'branch-held') findCheckedOut(draft, event.paths);
  return finishDraft(draft);
}

/** A limit parks the account; the first attempt after it is the probe, and only its end opens the account again. */
function trackProbe(draft: Draft, event: WorkEvent): void {
  if (event.type === 'attempt-started') {
    const limited = draft.accounts.get(event.account);
    if (limited !== undefined && limited.until <= draft.now && limited.probe === null) {
      draft.accounts = withEntry(draft.accounts, event.account, { ...limited, probe: event.attempt });
    }
    return;
  }
  if (event.type !== 'attempt-settled') return;
  for (const [account, limited] of draft.accounts) {
    if (limited.probe === event.attempt) draft.accounts = withoutEntry(draft.accounts, account);
  }
}
