import type { NewTask } from '../../model/plan/task.ts';
import type { Board, TaskState } from '../../model/plan/board.ts';
import { isDelivered } from './work-status.ts';

export type BaseDecision =
  /** The head as it is when the worktree is made: all needs are in it, so diamonds hold. */
  | { readonly base: 'run-head' }
  | { readonly base: 'commit'; readonly commit: string }
  /** No folder of the repository is needed. */
  | { readonly base: 'none' }
  | { readonly base: 'not-yet'; readonly why: string };

/** Whoever gets it brings the work of another into commits, as it stands. */
export function isHandOff({ base, workspace, review, requires }: NewTask): boolean {
  const onlyCommits = requires.some(({ kind }) => kind === 'commit') && requires.every(({ kind }) => kind !== 'diff');
  return base !== undefined && workspace === 'own' && review === undefined && onlyCommits;
}

/**
 * Where HEAD is to stand in a task's own worktree, if not where it is: for a hand-off below the work that is handed over, so
 * that it can be committed; for work that comes back, on what was made of it meanwhile, so that it is no conflict with itself.
 */
export function decideHead({ task, work }: TaskState, board: Pick<Board, 'tasks'>): string | undefined {
  if (task.workspace !== 'own') return undefined;
  if (isHandOff(task)) return board.tasks.get(task.base ?? '')?.work.base ?? undefined;
  if (work.round === 1) return undefined;
  const heir = [...board.tasks.values()].find((other) => other.task.base === task.id && isHandOff(other.task));
  return heir?.work.commit ?? undefined;
}

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
