import { join } from 'node:path';
import type { CommitsAnswer, TaskFolder } from '../ports/workspaces.ts';
import { exists } from '../files/exists.ts';
import { readNote } from './folders.ts';
import { requireName } from './git-call.ts';
import { attemptRef, folderPath, type GitContext } from './git-context.ts';
import { openRun } from './open-run.ts';
import { isAncestor, keep } from './rescue.ts';
import { keepSideCommits } from './side-commits.ts';
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
  if (folder === undefined || !(await exists(join(folderPath(context, run, task), '.git')))) {
    return { type: 'gone', ...(before === undefined ? {} : { kept: before }) };
  }
  const { base } = folder;
  const taken = await takeHead(context, repository, task);
  const head = taken.type === 'head' ? taken.commit : base;
  if (head !== base && (before === undefined || !(await isAncestor(context, head, before)))) {
    const tree = (await repository.talk.commit(head))?.tree;
    if (tree !== undefined) await keep(context, folder, attempt, { type: 'snapshot', head, tree, clean: true });
  }
  const { side } = await keepSideCommits(context, repository, task, { head, base });
  return { ...taken, side };
}
