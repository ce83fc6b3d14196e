import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * The top of the checkout whose `.squad` is meant by this folder, found by looking at files: git as a process costs more than
 * everything else that reading one's mail does. A worktree of squad's own means the checkout it was made from. undefined:
 * git has to be asked.
 */
export function findWorkspace(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const entry = join(at, '.git');
    if (existsSync(entry)) return [at, ...mainCheckout(entry)].find((root) => existsSync(join(root, '.squad')));
    if (dirname(at) === at) return undefined;
  }
}

/** A linked worktree's `.git` is a file that leads to the git directory that all checkouts share. */
function mainCheckout(entry: string): string[] {
  try {
    if (!statSync(entry).isFile()) return [];
    const own = /^gitdir: (.+?)\s*$/.exec(readFileSync(entry, 'utf8'))?.[1];
    if (own === undefined) return [];
    const directory = resolve(dirname(entry), own);
    const shared = resolve(directory, readFileSync(join(directory, 'commondir'), 'utf8').trim());
    return basename(shared) === '.git' ? [dirname(shared)] : [];
  } catch {
    // A submodule has no `commondir`; whatever else is odd about it, git will say.
    return [];
  }
}
