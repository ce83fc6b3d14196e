import { assertNever } from '../model/assert-never.ts';
import type { Board, TaskState } from '../model/plan/board.ts';
import type { ShownStatus, TaskStatus } from '../model/plan/task.ts';
import type { Work } from '../model/plan/work.ts';

/** Tasks that need a skipped task continue. */
export function isDelivered(state: TaskState | undefined): boolean {
  const phase = state?.work.phase;
  return phase?.at === 'ended' && (phase.as === 'done' || phase.as === 'skipped');
}

/** Attempts without reviews. */
export function authorAttempts({ attempts, reviews }: Pick<Work, 'attempts' | 'reviews'>): number {
  return attempts - reviews;
}

export function isEnded(state: TaskState): boolean {
  return state.work.phase.at === 'ended';
}

export function needsDelivered(state: TaskState, board: Pick<Board, 'tasks'>): boolean {
  return state.task.needs.every((need) => isDelivered(board.tasks.get(need)));
}

export function statusOf(state: TaskState, board: Pick<Board, 'tasks'>): TaskStatus {
  const { phase, author } = state.work;
  switch (phase.at) {
    case 'working':
      if (author.state.at === 'live') return 'live';
      return needsDelivered(state, board) ? 'ready' : 'waiting';
    case 'gathering':
    case 'stopping':
      return 'live';
    case 'reviewing':
      return 'reviewing';
    case 'in-queue':
    case 'integrating':
    case 'verifying':
    case 'advancing':
      return 'integrating';
    case 'ended':
      return phase.as;
    default:
      return assertNever(phase);
  }
}

export function isBlocked({ work: { phase } }: Pick<TaskState, 'work'>): boolean {
  return phase.at === 'ended' && phase.as === 'failed' && phase.cause === 'blocked';
}

export function shownStatusOf(state: TaskState, board: Pick<Board, 'tasks'>): ShownStatus {
  const status = statusOf(state, board);
  return status === 'failed' && isBlocked(state) ? 'blocked' : status;
}
