import type { NewTask } from '../../model/plan/task.ts';
import type { Board } from '../../model/plan/board.ts';
import { isDelivered } from './work-status.ts';

export type BaseDecision =
  /** The head as it is when the worktree is made: all needs are in it, so diamonds hold. */
  | { readonly base: 'run-head' }
  | { readonly base: 'commit'; readonly commit: string }
  /** No folder of the repository is needed. */
  | { readonly base: 'none' }
  | { readonly base: 'not-yet'; readonly why: string };

/** From where a task's worktree starts: the run branch once all its needs are delivered, or exactly one task's commit. */
export function decideBase(task: NewTask, board: Pick<Board, 'tasks'>): BaseDecision {
  const missing = task.needs.filter((need) => !isDelivered(board.tasks.get(need)));
  if (missing.length > 0) return { base: 'not-yet', why: `waits for ${missing.join(', ')}` };
  const from = task.base ?? (typeof task.workspace === 'object' ? task.workspace.read : 'run');
  if (task.workspace === 'none' && task.base === undefined) return { base: 'none' };
  if (from === 'run') return { base: 'run-head' };
  const commit = board.tasks.get(from)?.work.commit ?? null;
  if (commit !== null) return { base: 'commit', commit };
  // A skipped task, or one that changed nothing, leaves nothing to start from but the run.
  return { base: 'run-head' };
}
