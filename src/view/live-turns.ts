import type { PlanEntry } from '../model/plan/entry.ts';
import type { WorkEvent } from '../model/plan/work.ts';
import type { RunEvent } from '../model/run-event.ts';
import { clearedText } from '../model/wall-text.ts';
import type { Base } from './event-base.ts';
import { liveRequests, type LiveRequest } from '../rules/work-requests.ts';
import type { Board } from '../model/plan/board.ts';

/** A turn that is not over in the plan, which names it without its run. */
function liveTurn(board: Board | undefined, id: string): LiveRequest | undefined {
  const name = id.slice(id.lastIndexOf('.') + 1);
  return board === undefined ? undefined : liveRequests(board).find(({ attempt }) => attempt === name);
}

/** The account that a turn's own stands in for; undefined: none. */
export function insteadOfIn(board: Board | undefined, id: string): string | undefined {
  return liveTurn(board, id)?.state.insteadOf;
}

/** For people: a stall ends with a sign of work, or with its turn. */
export function clearedBy(event: Extract<WorkEvent, { type: 'wall-cleared' | 'attempt-settled' }>): string {
  if (event.type === 'attempt-settled') return 'its turn has completed';
  return event.why ?? clearedText('sign', null);
}

/** A stall of a turn, and its end. `open`: the ids of attempts. */
export function stallEvents(base: Base, board: Board, open: Iterable<string>, entry: PlanEntry): RunEvent[] {
  if (entry.entry !== 'work') return [];
  const { task, event } = entry;
  const isEnd = event.type === 'attempt-settled' && event.outcome === 'completed';
  if (!isEnd && event.type !== 'wall-raised' && event.type !== 'wall-cleared') return [];
  const attemptId = [...open].find((id) => id.endsWith(`.${event.attempt}`)) ?? event.attempt;
  const turn = liveTurn(board, attemptId);
  if (turn === undefined) return [];
  const about = { ...base, attemptId, task, agent: turn.state.agent };
  if (event.type === 'wall-raised') return [{ type: 'stall-changed', ...about, state: 'stalled', why: event.why }];
  if (turn.state.stall === null) return [];
  return [{ type: 'stall-changed', ...about, state: 'works', why: clearedBy(event) }];
}
