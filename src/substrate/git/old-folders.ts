import { readdir, readFile, rename, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { deleteFolder } from '../files/remove-tree.ts';
import { isCommitId } from './git-call.ts';
import { folderPath, notePath, type GitContext, type RunRepository } from './git-context.ts';
import { isFolder, makeGitDirectory } from './git-directory.ts';
import { pin } from './run-repository.ts';

/** The note about a worktree of the user's repository, in which agents worked in older versions. */
const oldNoteSchema = z.looseObject({
  task: z.string(),
  base: z.string(),
  workspace: z.object({ path: z.string(), git: z.object({ worktreeDirectory: z.string() }) }),
});

/** Gives the worktrees of an older version a git directory of their own. The files and the commit stay. */
export async function convertOldFolders(context: GitContext, repository: RunRepository): Promise<void> {
  const { run } = repository;
  const names = await readdir(notePath(context, run, ''));
  for (const name of names.filter((item) => item.endsWith('.json'))) {
    const note = notePath(context, run, name);
    const text = await readFile(note, 'utf8');
    const { data: old } = oldNoteSchema.safeParse(JSON.parse(text));
    if (old === undefined) continue;
    const { path, git } = old.workspace;
    const head = (await readFile(join(git.worktreeDirectory, 'HEAD'), 'utf8').catch(() => '')).trim();
    const commit = isCommitId(head) ? head : old.base;
    await pin(context, repository, commit);
    if (await isFolder(path)) await makeGitDirectory(context, repository, old.task, commit);
    await writeFile(`${note}.new`, JSON.stringify({ ...old, workspace: { path, repository: true } }), { mode: 0o600 });
    await rename(`${note}.new`, note);
  }
  await forgetWorktrees(context, run);
}

/** Removes git's entries for the worktrees of a run, as `git worktree prune` would, but for no others. */
async function forgetWorktrees(context: GitContext, run: string): Promise<void> {
  const folder = join(context.commonDirectory, 'worktrees');
  const inside = `${folderPath(context, run, '')}/`;
  for (const name of await readdir(folder).catch(() => [])) {
    const gitdir = await readFile(join(folder, name, 'gitdir'), 'utf8').catch(() => '');
    if (gitdir.startsWith(inside)) await deleteFolder(join(folder, name));
  }
  // As git does. Fails while there are other worktrees.
  await rmdir(folder).catch(() => undefined);
}
