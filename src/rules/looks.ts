import type { Board } from '../model/plan/board.ts';
import { isApproval, type Look } from '../model/plan/look.ts';
import type { Json } from '../text/json.ts';
import { EVIDENCE } from './evidence-texts.ts';
import type { WorkContext } from './work-step.ts';

/** The problem of an approval by an agent that looked at nothing although `looks` requires it; undefined: none. */
export function lookProblem(
  output: Json | undefined,
  look: Look | undefined,
  { looks }: Pick<WorkContext, 'looks'>,
): string | undefined {
  return looks === 'required' && look === 'none' && isApproval(output) ? EVIDENCE.lookFirst : undefined;
}

/** Who let work pass without a look, with the task that was judged. `how`: `unknown` where no runtime says it. */
export function blindApprovals(
  { tasks }: Pick<Board, 'tasks'>,
  how: Exclude<Look, 'some'>,
): { task: string; by: string }[] {
  const found = [...tasks.values()].flatMap(({ task, work }) => {
    const { phase, rounds, author, output } = work;
    // A round without an approval lets nothing pass, and a later one counts in its place.
    const last = rounds.at(-1)?.by ?? [];
    const reviews = last.flatMap(({ agent, approved, look }) => (approved && look === how ? [agent] : []));
    const isJudge = task.workspace !== 'own' && work.override === null;
    const isDone = phase.at === 'ended' && phase.as === 'done' && isJudge;
    const own =
      isDone && isApproval(output ?? undefined) && author.look === how ? [author.thread?.agent ?? task.role] : [];
    return [...reviews, ...own].map((by) => ({ task: task.id, by }));
  });
  return found.filter((one, index) => found.findIndex(({ task, by }) => task === one.task && by === one.by) === index);
}

/** A part of the closing word; undefined: there is none. */
export function blindText(board: Pick<Board, 'tasks'>): string | undefined {
  const found = blindApprovals(board, 'none');
  if (found.length === 0) return undefined;
  return `approved without looking: ${found.map(({ task, by }) => `${task} by ${by}`).join(', ')}`;
}
