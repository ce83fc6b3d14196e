import { join } from 'node:path';
import { errorText, wrongEnvironment } from '../../model/errors.ts';
import { openPlainFolder, textOfPath } from '../files/plain-folder.ts';
import { deleteFolder } from '../files/remove-tree.ts';
import { folderPath, notePath, type GitContext, type RunRepository } from './git-context.ts';
import { findChanges } from './read-folder.ts';

/** Deletes what a folder holds besides a commit; ignored files stay. The caller has kept what is worth it. */
export async function clearFolder(
  context: GitContext,
  { run, call, talk }: RunRepository,
  task: string,
  commit: string,
): Promise<void> {
  const folder = folderPath(context, run, task);
  const tree = (await talk.commit(commit))?.tree;
  if (tree === undefined) throw wrongEnvironment(`the commit ${commit} is not there`);
  const index = notePath(context, run, `${task}.index`);
  const found = await findChanges(context, { folder, call, index, commit, tree });
  if ('type' in found) throw wrongEnvironment(`${folder} cannot be emptied: ${found.reason}`);
  const plain = openPlainFolder(folder);
  try {
    for (const path of found.newRepositories) await deleteFolder(join(folder, textOfPath(path)));
    for (const { path, known } of found.files) if (known === undefined) plain.remove(path);
    for (const path of found.others) plain.remove(path);
    for (const path of found.folders.toReversed()) plain.removeEmpty(path);
  } catch (error) {
    throw wrongEnvironment(`${folder} cannot be emptied: ${errorText(error)}`);
  }
}
