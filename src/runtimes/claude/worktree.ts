import { createHash, randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, realpath, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '../../model/errors.ts';
import type { Workspace } from '../../model/turn-request.ts';

/**
 * Makes the sandbox an exact allow-list for git. When the CLI recognises a linked worktree (by a `.git` file that names
 * `…/worktrees/<name>`) it makes the whole common directory writable by itself, but for a list of its own, and leaves
 * masks and marker files there while a command runs: an agent could then move refs, and a `config.lock` would stand in
 * the user's way. Through a link outside `worktrees` git finds the same directory and the CLI does not, so that only what
 * `sandbox.ts` names is writable. The rest is denied by name all the same, in case a release follows the link.
 */
export async function protectGit(
  links: string,
  workspace: string,
  git: NonNullable<Workspace['git']>,
): Promise<{ paths: string[]; problem?: string }> {
  const { commonDirectory: common, worktreeDirectory: worktree } = git;
  try {
    await linkWorktree(links, workspace, worktree);
    // Must not be made by an agent either; and what does not exist can only be masked, which git takes for an error.
    await writeFile(join(worktree, 'config.worktree'), '', { flag: 'a' });
    const names = (await readdir(common)).filter((name) => !OPEN.has(name) && !name.endsWith('.lock'));
    const paths = [
      ...['commondir', 'gitdir', 'config.worktree'].map((name) => join(worktree, name)),
      ...(await existing([join(common, 'objects', 'pack'), join(common, 'objects', 'info')])),
      ...names.map((name) => join(common, name)),
    ];
    return { paths };
  } catch (error) {
    return { paths: [], problem: errorText(error) };
  }
}

const OPEN: ReadonlySet<string> = new Set(['objects', 'worktrees']);

/** Renames into place under names of its own: two turns may begin at once, and an agent could have left a link there. */
async function linkWorktree(folder: string, workspace: string, worktree: string): Promise<void> {
  const link = join(folder, createHash('sha256').update(worktree).digest('hex').slice(0, 16));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await realpath(link).catch(() => undefined)) !== (await realpath(worktree))) {
    const fresh = `${link}.${randomUUID()}`;
    await symlink(worktree, fresh);
    await rename(fresh, link);
  }
  const pointer = join(workspace, '.git');
  const wanted = `gitdir: ${link}\n`;
  if (!(await lstat(pointer)).isFile()) throw new Error(`${pointer} is no regular file`);
  if ((await readFile(pointer, 'utf8')) === wanted) return;
  const fresh = `${pointer}.${randomUUID()}`;
  await writeFile(fresh, wanted, { flag: 'wx' });
  await rename(fresh, pointer);
}

/** Those of the paths that are there, links included. */
export async function existing(paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) if ((await lstat(path).catch(() => undefined)) !== undefined) found.push(path);
  return found;
}
