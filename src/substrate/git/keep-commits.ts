import { join } from 'node:path';
import { isAncestor } from './ancestry.ts';
import type { CommitsAnswer, TaskFolder } from '../ports/workspaces.ts';
import { exists } from '../system/files/exists.ts';
import { readNote } from './folder-note.ts';
import { requireName } from './git-call.ts';
import { attemptRef, folderPath, type GitContext } from './git-context.ts';
import { openRun } from './open-run.ts';
import { keep } from './rescue.ts';
import { keepSideCommits, NO_SIDE_WORK } from './side-commits.ts';
import { takeHead } from './take-commit.ts';

/** See `Workspaces.keepCommits`. */
export async function keepCommits(
  context: GitContext,
  { run, task }: Pick<TaskFolder, 'run' | 'task'>,
  attempt: string,
): Promise<CommitsAnswer> {
  requireName(attempt);
  const repository = await openRun(context, run);
  const before = await context.talk.find(`${attemptRef(requireName(run), attempt)}^{commit}`);
  const folder = await readNote(context, run, task);
  const isGone = !(await exists(join(folderPath(context, run, task), '.git')));
  const left = isGone ? folder?.left : undefined;
  if (folder === undefined || (isGone && left === undefined)) {
    return { type: 'gone', ...(before === undefined ? {} : { kept: before }) };
  }
  const { base } = folder;
  const taken =
    left === undefined ? await takeHead(context, repository, task) : ({ type: 'head', commit: left } as const);
  const head = taken.type === 'head' ? taken.commit : base;
  if (head !== base && (before === undefined || !(await isAncestor(context, head, before)))) {
    const tree = (await repository.talk.commit(head))?.tree;
    if (tree !== undefined) await keep(context, folder, attempt, { type: 'snapshot', head, tree, clean: true });
  }
  if (left !== undefined) return { ...taken, side: NO_SIDE_WORK };
  const { side } = await keepSideCommits(context, repository, task, { head, base });
  return { ...taken, side };
}
