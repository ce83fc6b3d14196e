import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { readPlain } from '../system/files/read-plain.ts';
import { exists } from '../system/files/exists.ts';
import { deleteFolder } from '../system/files/remove-tree.ts';
import { ENGINE_FOLDERS, noteDown, readLeftNote } from './folder-note.ts';
import { gitFailed, requireName } from './git-call.ts';
import { attemptRef, folderPath, notePath, type GitContext, type RunRepository } from './git-context.ts';
import { readTree } from './read-folder.ts';
import { publishRef } from './run-repository.ts';
import { coneOf } from './sparse-cone.ts';
import { keepSideCommits } from './side-commits.ts';
import { takeHead } from './take-commit.ts';

/** Names the engine at work. It stays until everything that follows a power cut is done. */
const ENGINE = 'engine';
/** A note about a folder as it was before the cut. */
const LEFT = /^(.+)\.left$/;

/**
 * Removes all that was made of the run's repository and of the folders' files for speed, and that a power cut may have damaged: what
 * nothing flushes. What is on record is in the user's repository, flushed before it was recorded.
 */
export async function forgetNotes(context: GitContext, run: string): Promise<void> {
  for (const name of await readdir(notePath(context, run, ''))) {
    const task = /^(.+)\.json$/.exec(name)?.[1];
    if (name === ENGINE || LEFT.test(name)) continue;
    if (task === undefined) await deleteFolder(notePath(context, run, name));
    else await rename(notePath(context, run, name), notePath(context, run, `${task}.left`));
  }
}

/**
 * Removes the folders of tasks, whose files may be empty now, and keeps at refs what they hold: agents flush nothing. A task then
 * continues in a new folder, at the commit of its HEAD. A folder that cannot be read stays, under another name.
 */
export async function replaceFolders(context: GitContext, repository: RunRepository): Promise<void> {
  const { run } = repository;
  const names = await readdir(join(context.runsDirectory, run));
  for (const task of names.filter((name) => !name.startsWith('.') && !name.includes('.'))) {
    const path = folderPath(context, run, task);
    const left = ENGINE_FOLDERS.includes(task) ? 'nothing' : await keepWhatIsLeft(context, repository, task);
    if (left === undefined) await setAside(path);
    else {
      const text = await readPlain(notePath(context, run, `${task}.left`)).catch(() => '');
      const note = readLeftNote(text);
      if (note !== undefined && left !== 'nothing') await noteDown(context, { ...note, left });
      await deleteFolder(path);
    }
    await deleteFolder(notePath(context, run, `${task}.left`));
  }
}

/** The commit at HEAD. What the user's repository does not have is at a ref then. undefined: nothing can be read. */
async function keepWhatIsLeft(
  context: GitContext,
  repository: RunRepository,
  task: string,
): Promise<string | undefined> {
  const { call, talk, run } = repository;
  const head = await takeHead(context, repository, task);
  const committed = head.type === 'head' ? (await talk.commit(head.commit))?.tree : undefined;
  if (head.type !== 'head' || committed === undefined) return undefined;
  const folder = folderPath(context, run, task);
  const cone = coneOf(repository, task);
  const now = await readTree(context, { folder, call, commit: head.commit, tree: committed, cone });
  if (now.type !== 'tree') return undefined;
  const { problem } = await keepSideCommits(context, repository, task, { head: head.commit, base: head.commit });
  if (problem !== undefined) return undefined;
  if (now.tree === committed && (await context.talk.commit(head.commit)) !== undefined) return head.commit;
  const message = `The folder of ${task} after a power cut, kept by squad`;
  const commit =
    now.tree === committed
      ? head.commit
      : await context.git.text(['commit-tree', now.tree, '-p', head.commit, '-m', message], call);
  for (let number = 1; ; number += 1) {
    const ref = attemptRef(run, requireName(`${task}-cut-${number}`));
    const before = await context.talk.find(`${ref}^{commit}`);
    if (before !== undefined && before !== commit) continue;
    const kept = await publishRef(context, repository, ref, commit);
    if (kept.code !== 0) throw gitFailed(['update-ref'], kept);
    return head.commit;
  }
}

async function setAside(path: string): Promise<void> {
  for (let number = 1; ; number += 1) {
    const aside = `${path}.cut-${number}`;
    if (await exists(aside)) continue;
    return rename(path, aside);
  }
}
