import { lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readPlainSync } from '../system/files/read-plain.ts';

/** A line that can move a repository's folders or make git refuse it. Only git reads such a config rightly. */
const SPECIAL =
  /worktree|bare(?!\s*=\s*false\s*$)|^\s*\[\s*(?:include|extensions)|repositoryformatversion(?!\s*=\s*0\s*$)/im;
const HEAD = /^(?:ref: refs\/\S+|[0-9a-f]{40}|[0-9a-f]{64})\s*$/;

/**
 * Root and git directory of the checkout at or above a folder, where its files prove what git would say; undefined: git has to be
 * asked. To start git takes longer than most of what a command that only looks does.
 */
export function plainCheckout(path: string): { readonly root: string; readonly gitDirectory: string } | undefined {
  try {
    const start = realpathSync(path);
    const { dev } = statSync(start);
    for (let root = start; ; root = dirname(root)) {
      const gitDirectory = join(root, '.git');
      // Another file system, or a git directory itself.
      if (root.includes('\n') || statSync(root).dev !== dev || isThere(join(root, 'HEAD'))) return undefined;
      if (isThere(gitDirectory)) return isPlain(root, gitDirectory) ? { root, gitDirectory } : undefined;
      if (dirname(root) === root) return undefined;
    }
  } catch {
    // git says what is wrong.
    return undefined;
  }
}

/**
 * The git directory that the checkouts of the repository at or above a folder share, by its files alone; undefined: none is to be
 * found. Less strict than git, which has to be asked before anything is done there.
 */
export function commonDirectoryAt(folder: string): string | undefined {
  try {
    for (let at = realpathSync(folder); ; at = dirname(at)) {
      const entry = join(at, '.git');
      if (isThere(entry)) return statSync(entry).isDirectory() ? realpathSync(entry) : sharedBy(entry);
      if (dirname(at) === at) return undefined;
    }
  } catch {
    // git says what is wrong.
    return undefined;
  }
}

/** The `.git` of a linked worktree is a file with the path of its own git directory, and that one names the shared one. */
function sharedBy(entry: string): string | undefined {
  const own = /^gitdir: (.+?)\s*$/.exec(readPlainSync(entry))?.[1];
  if (own === undefined) return undefined;
  const directory = resolve(dirname(entry), own);
  const shared = join(directory, 'commondir');
  return realpathSync(isThere(shared) ? resolve(directory, readPlainSync(shared).trim()) : directory);
}

/** A whole git directory of its own, owned by this user: git refuses one of another user. */
function isPlain(root: string, gitDirectory: string): boolean {
  const within = (name: string): string => join(gitDirectory, name);
  const isOwn = [root, gitDirectory].every((folder) => lstatSync(folder).uid === process.geteuid?.());
  const isWhole = [gitDirectory, within('objects'), within('refs')].every((folder) => lstatSync(folder).isDirectory());
  const isLinked = ['commondir', 'config.worktree'].some((name) => isThere(within(name)));
  const isFiles = ['HEAD', 'config'].every((name) => lstatSync(within(name)).isFile());
  if (!isOwn || !isWhole || isLinked || !isFiles) return false;
  return HEAD.test(readPlainSync(within('HEAD'))) && !SPECIAL.test(readPlainSync(within('config')));
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
