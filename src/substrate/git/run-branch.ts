import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { deleteFolder } from '../files/remove-tree.ts';
import { isCommitId, requireName } from './git-call.ts';
import { notePath, runBranch, userCall, type GitContext } from './git-context.ts';
import { isFolder } from './git-directory.ts';

/** Reads the ref's file, which is faster, and asks git only if the ref is packed. */
export async function headOf(context: GitContext, run: string): Promise<string | undefined> {
  const ref = runBranch(requireName(run));
  const text = await readFile(join(context.commonDirectory, ref), 'utf8').catch(() => '');
  if (isCommitId(text.trimEnd())) return text.trimEnd();
  return context.talk.find(`${ref}^{commit}`);
}

/** The user's checkout whose HEAD is the run branch. */
export async function checkoutOf(context: GitContext, run: string): Promise<string | undefined> {
  const args = ['for-each-ref', '--format=%(worktreepath)', runBranch(requireName(run))];
  const path = await context.git.text(args, userCall(context));
  return path === '' ? undefined : path;
}

/**
 * Makes `squad/<run>` a name of the run branch's commit in the folder's own repository, like a branch of a remote. Agents can
 * compare with it and merge it.
 */
export async function showRunBranch(context: GitContext, run: string, path: string): Promise<void> {
  const head = await headOf(context, run);
  const refs = join(path, '.git', 'refs');
  // A link leads to refs that are not the task's.
  for (const folder of [path, join(path, '.git'), refs]) if (!(await isFolder(folder))) return;
  for (const folder of [join(refs, 'remotes'), join(refs, 'remotes/squad')]) {
    if (await isFolder(folder)) continue;
    await deleteFolder(folder);
    await mkdir(folder);
  }
  const shown = join(refs, 'remotes/squad', run);
  if (head === undefined || (await isFolder(shown))) await deleteFolder(shown);
  if (head === undefined) return;
  const fresh = notePath(context, run, `${basename(path)}.branch`);
  await writeFile(fresh, `${head}\n`);
  await rename(fresh, shown);
}
