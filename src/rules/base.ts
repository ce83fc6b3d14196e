import type { NewTask } from '../model/plan/task.ts';
import type { Board, TaskState } from '../model/plan/board.ts';
import { isDelivered } from './work-status.ts';

export type BaseDecision =
  /** The head when the folder is made. It contains all needs. */
  | { readonly base: 'run-head' }
  | { readonly base: 'commit'; readonly commit: string }
  /** It needs no folder of the repository. */
  | { readonly base: 'none' }
  | { readonly base: 'not-yet'; readonly why: string };

/** Whether the task only commits another task's work. */
export function isHandOff({ base, workspace, review, requires }: NewTask): boolean {
  const onlyCommits = requires.some(({ kind }) => kind === 'commit') && requires.every(({ kind }) => kind !== 'diff');
  return base !== undefined && workspace === 'own' && review === undefined && onlyCommits;
}

/**
 * Where HEAD is in a task's own folder, if it has to move. A hand-off starts below the work that it commits. Work that comes
 * back starts from the commit that the hand-off made of it, so that it does not conflict with itself.
 */
export function decideHead({ task, work }: TaskState, board: Pick<Board, 'tasks'>): string | undefined {
  if (task.workspace !== 'own') return undefined;
  if (isHandOff(task)) return board.tasks.get(task.base ?? '')?.work.base ?? undefined;
  if (work.round === 1) return undefined;
  const heir = [...board.tasks.values()].find((other) => other.task.base === task.id && isHandOff(other.task));
  return heir?.work.commit ?? undefined;
}

/** The commit at which a task's folder starts: the run branch once all needs are delivered, or one task's commit. */
export function decideBase(task: NewTask, board: Pick<Board, 'tasks'>): BaseDecision {
  const missing = task.needs.filter((need) => !isDelivered(board.tasks.get(need)));
  if (missing.length > 0) return { base: 'not-yet', why: `waits for ${missing.join(', ')}` };
  const from = task.base ?? (typeof task.workspace === 'object' ? task.workspace.read : 'run');
  if (task.workspace === 'none' && task.base === undefined) return { base: 'none' };
  if (from === 'run') return { base: 'run-head' };
  const commit = commitOf(from, board);
  return commit === null ? { base: 'run-head' } : { base: 'commit', commit };
}

/** The commit that tasks which need this one start from; null if it changed nothing or was skipped. */
export function commitOf(id: string, { tasks }: Pick<Board, 'tasks'>): string | null {
  const work = tasks.get(id)?.work;
  return work?.phase.at === 'ended' && work.phase.as === 'done' ? work.commit : null;
}
