import type { Board, TaskState } from '../model/plan/board.ts';
import type { PlaybookNews, TaskEnded } from '../model/plan/event.ts';
import type { NewTask } from '../model/plan/task.ts';

/** Merges the base of the pull request. What else comes from outside is reviewed. */
function isCatchUp({ owner, foreign, review }: Pick<NewTask, 'owner' | 'foreign' | 'review'>): boolean {
  return owner === 'engine' && foreign !== undefined && review === undefined;
}

/** A base that cannot be merged becomes work for the agent that delivered last. undefined: it is no such end. */
export function afterCatchUp({ task }: TaskState, [end]: readonly TaskEnded[]): PlaybookNews | undefined {
  if (!isCatchUp(task) || end?.type !== 'task-failed' || end.cause === 'cancelled') return undefined;
  const { foreign = '' } = task;
  const how = `the base ${foreign} cannot be merged as it is: run \`git merge ${foreign}\`, and resolve this`;
  return { type: 'gate-refused', refused: 1, problems: [`${how}\n${end.why}`], from: 'pull-request' };
}

/** Whether later work made good for it, so that its failure is no failure of the run. */
export function isMadeGood(board: Pick<Board, 'tasks'>, { task, order }: Pick<TaskState, 'task' | 'order'>): boolean {
  if (!isCatchUp(task)) return false;
  return [...board.tasks.values()].some((other) => {
    const { phase } = other.work;
    return other.order > order && other.task.owner !== 'engine' && phase.at === 'ended' && phase.as === 'done';
  });
}
