import { liveAttempts } from '../../rules/work-requests.ts';
import type { Board, TaskState } from '../../model/plan/board.ts';
import type { FolderMoment } from '../../model/folder.ts';
import { WHOLE_RUN } from '../../model/plan/scope.ts';
import type { Phase } from '../../model/plan/work.ts';
import type { RunState } from '../../model/run-state.ts';
import { orderOf } from '../../playbooks/shared/mail-orders.ts';

type Held = Pick<Board, 'accounts' | 'finished' | 'now' | 'pauses' | 'questions' | 'records' | 'tasks'>;

/** `state`: `running`, or how the engine has ended its work. */
export function folderStatus(board: Held, state: RunState): FolderMoment['status'] {
  if (state === 'done') return 'finished';
  return state === 'running' && !isHeld(board) ? 'active' : 'paused';
}

/** Something waits for a person or for a limit to end. */
function isHeld({ finished, pauses, questions, ...board }: Held): boolean {
  return (
    pauses.has(WHOLE_RUN) ||
    (finished !== null && finished.outcome !== 'done') ||
    [...questions.values()].some(({ answer }) => answer === null) ||
    [...board.tasks.values()].some((state) => hasFailed(state, board)) ||
    isLimited(board)
  );
}

/** The run ends as failed for it. It does not for an answer by mail; and what fails of the engine's own, the engine judges. */
function hasFailed({ task, work: { phase } }: TaskState, { records }: Pick<Held, 'records'>): boolean {
  if (phase.at !== 'ended' || phase.as !== 'failed' || task.owner === 'engine') return false;
  return orderOf({ record: (name, id) => records.get(name)?.get(id) }, task.id)?.answers !== true;
}

/** An account is at its usage limit, and nothing is under way on another one. */
function isLimited({ accounts, now, tasks }: Pick<Held, 'accounts' | 'now' | 'tasks'>): boolean {
  const isWaiting = [...accounts.values()].some(({ until }) => until > now);
  // Without an open task the engine checks the whole.
  if (!isWaiting || tasks.open.length === 0) return false;
  return tasks.open.every(({ work }) => liveAttempts(work).length === 0 && FOR_AGENTS.has(work.phase.at));
}

/** The engine works on a task in any other phase. */
const FOR_AGENTS: ReadonlySet<Phase['at']> = new Set(['working', 'reviewing']);
