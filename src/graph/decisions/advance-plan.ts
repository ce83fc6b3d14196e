import type { Playbook } from '../../model/plan.ts';
import type { Board } from '../../model/plan/board.ts';
import type { PlanChange } from '../../model/plan/change.ts';
import type { PlanEffect } from '../../model/plan/effect.ts';
import type { PlaybookEvent } from '../../model/plan/event.ts';
import { applyChanges } from './apply-changes.ts';
import { createView } from './view.ts';

/** Longer chains of changes that make news that makes changes are a playbook going in circles. */
const MOST_EVENTS = 4_000;
/** How often one input may have changes refused before that is the end. */
const MOST_REFUSALS = 100;

export interface PlanAdvance {
  readonly board: Board;
  readonly effects: readonly PlanEffect[];
  /** In the order applied: what the ledger keeps. */
  readonly changes: readonly (readonly PlanChange[])[];
}

/** Tells a playbook everything, one event at a time, until it has nothing more to say. */
export function advancePlan(
  board: Board,
  playbook: Pick<Playbook<never>, 'name' | 'advance'>,
  news: readonly PlaybookEvent[],
): PlanAdvance {
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
