import { lstat, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isWithin } from '../system/files/confine.ts';
import { exists } from '../system/files/exists.ts';
import { readConfinedStart } from '../system/files/open-confined.ts';
import { readHead, type HeadAnswer } from './read-refs.ts';

/** Longer than any path that the system accepts. */
const MOST_BYTES = 8192;

/**
 * The commit at HEAD of a repository in a task's folder, by bounded plain files: no git looks for it. undefined: the folder holds
 * no repository, whatever is called `.git` there.
 */
export async function readNestedHead(root: string, folder: string): Promise<HeadAnswer | undefined> {
  const own = join(folder, '.git');
  const found = await lstat(own).catch(() => undefined);
  if (found?.isSymbolicLink() === true) return { type: 'unreadable', reason: 'its .git is a link' };
  if (found?.isDirectory() === true) return (await exists(join(own, 'HEAD'))) ? readHead(own) : undefined;
  if (found?.isFile() !== true) return undefined;
  const directory = await findDirectory(folder);
  if (directory === undefined) return undefined;
  const top = await realpath(root);
  if (!isWithin(top, directory)) return { type: 'unreadable', reason: 'its .git names a place outside' };
  // A worktree of another repository has its branches there.
  const shared = await readConfinedStart(directory, 'commondir', MOST_BYTES);
  if (shared === undefined) return readHead(directory);
  const common = await realpath(resolve(directory, shared.text.trimEnd())).catch(() => undefined);
  if (common === undefined || !isWithin(top, common)) {
    return { type: 'unreadable', reason: 'its .git names a place outside' };
  }
  return readHead(directory, common);
}

/** Where the file `.git` of a folder leads; undefined: nowhere. */
export async function findDirectory(folder: string): Promise<string | undefined> {
  const read = await readConfinedStart(folder, '.git', MOST_BYTES);
  const target = read?.cut === false ? /^gitdir: (.+)\n?$/.exec(read.text)?.[1] : undefined;
  return target === undefined ? undefined : realpath(resolve(folder, target)).catch(() => undefined);
}
