import { failuresOf, type KeptRef } from './explain-failure.ts';
import type { RunHistory } from './read-run.ts';

/** Where the work of a run or a task is in git. */
export interface WorkRange {
  /** The commit that the work is compared with. */
  readonly from: string;
  /** Refs and commits that have the work, the best first. Each may have been removed. */
  readonly to: readonly string[];
}

type Reading = Pick<RunHistory, 'row' | 'definition' | 'board' | 'attempts' | 'evidence' | 'workspace' | 'published'>;

/**
 * Work of the run so far, or of `task`, delivered or not; with `attempt`, as it was at the end of that attempt. undefined: it never
 * had work.
 */
export function workRangeOf(
  reading: Reading,
  { task, attempt }: { readonly task?: string | undefined; readonly attempt?: string | undefined },
  kept: readonly KeptRef[],
): WorkRange | undefined {
  const { row, board, workspace, published, evidence } = reading;
  if (workspace?.branch === undefined) return undefined;
  if (task === undefined) {
    // Then the branch has the part of one repository.
    if (published?.repositories !== undefined) return { from: workspace.base, to: [board.branch.head] };
    return { from: workspace.base, to: [`refs/heads/squad/${row.name}`, ...known([published?.head])] };
  }
  const work = board.tasks.get(task)?.work;
  const from = work?.base ?? evidence.get(task)?.base ?? workspace.base;
  if (attempt !== undefined) return { from, to: [`refs/squad/${row.name}/${attempt}`] };
  const failed = failuresOf(reading, kept).find((failure) => failure.task === task);
  const to = known([work?.commit, failed?.work?.commit, work?.kept]);
  return to.length === 0 || to[0] === from ? undefined : { from, to };
}

function known(commits: readonly (string | null | undefined)[]): string[] {
  return commits.flatMap((commit) => commit ?? []);
}
