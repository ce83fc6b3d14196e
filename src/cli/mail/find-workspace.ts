import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * The top of the checkout with the `.squad` of this folder, found without git: starting git takes longer than reading mail. For
 * a worktree of squad it is the checkout that the worktree was made from. undefined: only git knows.
 */
export function findWorkspace(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const entry = join(at, '.git');
    if (existsSync(entry)) return [at, ...mainCheckout(entry)].find((root) => existsSync(join(root, '.squad')));
    if (dirname(at) === at) return undefined;
  }
}

/** The `.git` of a linked worktree is a file with the path to the shared git directory. */
function mainCheckout(entry: string): string[] {
  try {
    if (!statSync(entry).isFile()) return [];
    const own = /^gitdir: (.+?)\s*$/.exec(readFileSync(entry, 'utf8'))?.[1];
    if (own === undefined) return [];
    const directory = resolve(dirname(entry), own);
    const shared = resolve(directory, readFileSync(join(directory, 'commondir'), 'utf8').trim());
    return basename(shared) === '.git' ? [dirname(shared)] : [];
  } catch {
    // A submodule has no `commondir`. git reports every other problem.
    return [];
  }
}
