import { join } from 'node:path';
import { machineFailed, oneLine } from './git-call.ts';
import { folderPath, type GitContext, type RunRepository } from './git-context.ts';
import { borrowedStores, findForeignStore, isFolder, makeView, storesOfFolders } from './git-directory.ts';
import { readHead, type HeadAnswer } from './read-refs.ts';
import { readNote } from './folder-note.ts';
import { copiesOfRun, findCopied } from './known-copies.ts';
import { headOf } from './run-branch.ts';
import { copyRefs, fetchArguments, LOCAL_ONLY } from './run-repository.ts';
import { takeLoose } from './take-loose.ts';

/**
 * The commit at HEAD of a folder, brought into the run's repository. Everything there may be an agent's: git never runs on it,
 * and its objects are checked by their ids as they come in.
 */
export async function takeHead(context: GitContext, repository: RunRepository, task: string): Promise<TakenHead> {
  const path = folderPath(context, repository.run, task);
  if (!(await isFolder(path))) return { type: 'unreadable', reason: `${path} is not a folder` };
  const head = await readHead(join(path, '.git'));
  if (head.type !== 'head') return head;
  const { commit } = head;
  if ((await repository.talk.commit(commit)) !== undefined) return head;
  const take = await openTaking(context, repository, task);
  if (typeof take === 'string') return { type: 'unreadable', reason: take };
  const problem = await take([commit]);
  if (problem === undefined) return head;
  const { why, hasCopies } = problem;
  return {
    type: 'unreadable',
    reason: `the commit ${commit} cannot be ${hasCopies ? 'taken' : 'read'}: ${why}`,
    hasCopies,
  };
}

/** `hasCopies`: it has a file that squad put into the folder, and could be read. */
type TakenHead = HeadAnswer & { readonly hasCopies?: boolean };

/** Brings objects into the run's repository, all or none, with all that they need. Returns why it cannot. */
type Take = (ids: readonly string[]) => Promise<{ readonly why: string; readonly hasCopies: boolean } | undefined>;

/** How objects are taken from a folder's own store; or why none may be. */
export async function openTaking(context: GitContext, repository: RunRepository, task: string): Promise<Take | string> {
  const directory = join(folderPath(context, repository.run, task), '.git');
  const foreign = await findForeignStore(directory, storesOfFolders(context, repository));
  if (foreign !== undefined) return foreign;
  const borrowed = await borrowedStores(context, repository);
  let fetching: Promise<Take> | undefined;
  return async (ids) => {
    const isFree = (await copiesOfRun(repository.directory)).length === 0;
    if (isFree && (await takeLoose(context, repository, { task, borrowed, ids }))) return undefined;
    fetching ??= openFetch(context, repository, { task, directory, borrowed });
    return (await fetching)(ids);
  };
}

/** For packs, for many or large objects, where files of the person may be among them, and in any doubt. */
async function openFetch(
  context: GitContext,
  repository: RunRepository,
  { task, directory, borrowed }: { task: string; directory: string; borrowed: readonly string[] },
): Promise<Take> {
  const view = await makeView(context, repository, task, directory);
  const environment = { ...repository.call.environment, ...LOCAL_ONLY };
  const cage = {
    writable: [repository.directory, context.temporary],
    readable: [view, join(directory, 'objects'), ...borrowed],
  };
  let isCopied = false;
  const base = (await readNote(context, repository.run, task))?.base;
  const bases = [base, await headOf(context, repository.run)].flatMap((one) => one ?? []);
  return async (ids) => {
    const copied = await findCopied(context, repository, { view, ids, bases, readable: cage.readable });
    if (copied !== undefined) return { why: copied, hasCopies: true };
    const args = fetchArguments(view, ...ids);
    const fetch = async () => context.git.run(args, { ...repository.call, environment, cage });
    let fetched = await fetch();
    if (fetched.code !== 0 && !isCopied) {
      isCopied = true;
      // A ref of the run may have been deleted, and its commit collected.
      await copyRefs(context, repository);
      fetched = await fetch();
    }
    if (fetched.code === 0) return undefined;
    // The commit is sound, and can be taken once the machine is.
    const broken = machineFailed(args, fetched);
    if (broken !== undefined) throw broken;
    return { why: fetched.problem ?? oneLine(fetched.stderr), hasCopies: false };
  };
}
