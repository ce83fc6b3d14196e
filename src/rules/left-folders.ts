import type { Board, TaskState } from '../model/plan/board.ts';

/** The folder of a task's reviewer. Task ids never begin with a digit. */
export function reviewFolder(task: string, role: string): string {
  return `0-${task}-by-${role}`;
}

/**
 * The folders of a task and its reviewers that no turn is going to work in: the task is done. `later`: a task that follows from
 * it is open and may send it back.
 */
export function leftFolders({ task, work }: TaskState, { tasks }: Pick<Board, 'tasks'>): readonly string[] | 'later' {
  const { phase, leaving } = work;
  if (phase.at !== 'ended' || phase.as !== 'done') return [];
  if (leaving.length > 0 || tasks.open.some(({ task: { parent, base } }) => parent === task.id || base === task.id)) {
    return 'later';
  }
  const reviews = Object.keys(work.reviewers).map((role) => reviewFolder(task.id, role));
  return task.workspace === 'none' ? reviews : [task.id, ...reviews];
}
