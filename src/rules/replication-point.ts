import { z } from 'zod';
import { attemptName } from '../model/attempt-id.ts';
import type { LedgerEvent } from '../model/ledger-event.ts';
import type { Board, TaskState } from '../model/plan/board.ts';
import { RUN_EVENTS } from '../model/run.ts';

/** A settled turn whose work only the folder of its task has, until the engine keeps it at a ref of the run. */
export interface UnkeptTurn {
  readonly task: string;
  /** As the plan calls it. */
  readonly attempt: string;
}

const workSchema = z.object({ task: z.string(), event: z.object({ type: z.string() }) });
const settledSchema = z.object({ taskId: z.string(), attemptId: z.string(), kind: z.literal('turn') });

/**
 * The paid turns that a machine would have to do again if it got the records and refs of a run as they are. There is none at a
 * replication point. `board`: the plan up to the run's cursor. `later`: the events of its stream after the cursor.
 */
export function unkeptTurns(board: Board, later: readonly LedgerEvent[]): UnkeptTurn[] {
  const inputs = later.filter(({ cause }) => cause === null);
  const gathered = new Set(inputs.flatMap(gatheredTask));
  const gathering = board.tasks.open.filter((state) => isGathering(state) && !gathered.has(state.task.id));
  return [
    // The name under which the engine keeps its commits.
    ...gathering.map(({ task, work }) => ({ task: task.id, attempt: `${task.id}-${Math.max(1, work.attempts)}` })),
    ...inputs.flatMap((event) => settledTurn(board, event)),
  ];
}

function isGathering({ task, work }: TaskState): boolean {
  return hasFolder(task) && work.phase.at === 'gathering';
}

function hasFolder({ workspace, kind }: TaskState['task']): boolean {
  return workspace === 'own' && kind === 'work';
}

/** The engine records what it found once it has kept the work. */
function gatheredTask({ type, data }: LedgerEvent): string[] {
  const found = type === RUN_EVENTS.work ? workSchema.safeParse(data).data : undefined;
  return found?.event.type === 'evidence-gathered' ? [found.task] : [];
}

/** An author's turn that the engine has not decided on yet: its work is kept after that. */
function settledTurn(board: Board, { type, data }: LedgerEvent): UnkeptTurn[] {
  const turn = type === 'attempt-settled' ? settledSchema.safeParse(data).data : undefined;
  const state = turn && board.tasks.get(turn.taskId);
  if (turn === undefined || state === undefined || !hasFolder(state.task)) return [];
  const attempt = attemptName({ id: turn.attemptId });
  const live = state.work.author.state;
  return live.at === 'live' && live.attempt === attempt ? [{ task: turn.taskId, attempt }] : [];
}
