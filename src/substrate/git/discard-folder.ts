import { failpoint } from '../system/failpoint.ts';
import { deleteFolder } from '../system/files/remove-tree.ts';
import { setAside } from './spare/spare-folders.ts';
import { folderPath, notePath, type GitContext } from './git-context.ts';

/**
 * Removes the folder and the notes. Checks nothing: the caller has kept the work. `commit`: what the folder was filled with, so that
 * another task may use its files. Returns why it failed.
 */
export async function discardFolder(
  context: GitContext,
  run: string,
  task: string,
  commit?: string,
): Promise<string | undefined> {
  const isAside = await setAside(context, { run, task }, commit);
  const problem = isAside ? undefined : await deleteFolder(folderPath(context, run, task));
  if (problem !== undefined) return problem;
  failpoint('git.half-removed');
  // `adding` last, because the next call finds by it that there is something to finish.
  for (const name of [
    'view',
    'git-new',
    'git-old',
    'put',
    'fill',
    'folders',
    'ignored',
    'ignored.new',
    'made',
    'made.new',
    'reused',
    'reused.new',
    'git-kept',
    'index',
    'index.lock',
    'json',
    'json.new',
    'adding',
  ]) {
    await deleteFolder(notePath(context, run, `${task}.${name}`));
  }
  return undefined;
}
