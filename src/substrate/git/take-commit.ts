import { join } from 'node:path';
import { oneLine } from './git-call.ts';
import { folderPath, type GitContext, type RunRepository } from './git-context.ts';
import {
  borrowedStores,
  findForeignStore,
  isFolder,
  makeView,
  readHead,
  storesOfFolders,
  type HeadAnswer,
} from './git-directory.ts';
import { copyRefs, fetchArguments, LOCAL_ONLY } from './run-repository.ts';

/**
 * The commit at HEAD of a folder, brought into the run's repository. Everything there may be an agent's: git never runs on it,
 * and its objects are checked by their ids as they come in.
 */
export async function takeHead(context: GitContext, repository: RunRepository, task: string): Promise<HeadAnswer> {
  const path = folderPath(context, repository.run, task);
  if (!(await isFolder(path))) return { type: 'unreadable', reason: `${path} is not a folder` };
  const directory = join(path, '.git');
  const head = await readHead(directory);
  if (head.type !== 'head') return head;
  const { commit } = head;
  if ((await repository.talk.commit(commit)) !== undefined) return head;
  const foreign = await findForeignStore(directory, storesOfFolders(context, repository));
  if (foreign !== undefined) return { type: 'unreadable', reason: foreign };
  const view = await makeView(context, repository, task, directory);
  const environment = { ...repository.call.environment, ...LOCAL_ONLY };
  const cage = {
    writable: [repository.directory, context.temporary],
    readable: [view, join(directory, 'objects'), ...(await borrowedStores(context, repository))],
  };
  const fetch = async () => context.git.run(fetchArguments(view, commit), { ...repository.call, environment, cage });
  let fetched = await fetch();
  if (fetched.code !== 0) {
    // A ref of the run may have been deleted, and its commit collected.
    await copyRefs(context, repository);
    fetched = await fetch();
  }
  if (fetched.code === 0) return head;
  const why = fetched.problem ?? oneLine(fetched.stderr);
  return { type: 'unreadable', reason: `the commit ${commit} cannot be read: ${why}` };
}
