import type { EscapingLink } from '../ports/workspaces.ts';
import { LINK_MODE, readRawDiff, emptyTree, type RawChange } from './raw-diff.ts';
import type { Git, GitCall } from './git-call.ts';

/** More hops than this, and git and the system give up too. */
const MAX_HOPS = 40;
const AT_ONCE = 8;

/** Links that leave the tree at `commit` and did not, as they are, at `base` (bar S3). */
export async function findEscapingLinks(
  git: Git,
  call: GitCall,
  temporary: string,
  base: string,
  commit: string,
): Promise<readonly EscapingLink[]> {
  const changes = await readRawDiff(git, call, temporary, base, commit);
  // Where a link leads depends on links alone: as long as none changed, none leads elsewhere.
  if (!changes.some((change) => change.oldMode === LINK_MODE || change.newMode === LINK_MODE)) return [];
  const before = decideEscapes(await readLinks(git, call, temporary, base));
  const known = new Set(before.map(({ path, target }) => `${path}\0${target}`));
  const now = decideEscapes(await readLinks(git, call, temporary, commit));
  return now.filter(({ path, target }) => !known.has(`${path}\0${target}`));
}

/** The links that lead out of the tree, or into a git directory, when all of these are in it. */
export function decideEscapes(links: ReadonlyMap<string, string>): readonly EscapingLink[] {
  return [...links].filter(([path]) => escapes(links, path)).map(([path, target]) => ({ path, target }));
}

/**
 * Walks a link as the system would, through other links: `d/e/../x` is inside by its letters, and outside when `d/e` is a
 * link to the top.
 */
function escapes(links: ReadonlyMap<string, string>, start: string): boolean {
  const ahead = start.split('/');
  let place: string[] = [];
  for (let hops = 0; ahead.length > 0;) {
    const part = ahead.shift() ?? '';
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (place.length === 0) return true;
      place = place.slice(0, -1);
      continue;
    }
    const target = links.get([...place, part].join('/'));
    if (target === undefined) {
      if (part.toLowerCase() === '.git') return true;
      place = [...place, part];
      continue;
    }
    hops += 1;
    // A circle leads nowhere.
    if (hops > MAX_HOPS) return false;
    if (target.startsWith('/')) return true;
    ahead.unshift(...target.split('/'));
  }
  return false;
}

async function readLinks(git: Git, call: GitCall, temporary: string, commit: string): Promise<Map<string, string>> {
  const all = await readRawDiff(git, call, temporary, emptyTree(commit), commit);
  const links = all.filter((change) => change.newMode === LINK_MODE);
  const targets = new Map<string, string>();
  for (let from = 0; from < links.length; from += AT_ONCE) {
    const some = links.slice(from, from + AT_ONCE);
    const read = await Promise.all(some.map(async (link) => [link.path, await readTarget(git, call, link)] as const));
    for (const [path, target] of read) targets.set(path, target);
  }
  return targets;
}

async function readTarget(git: Git, call: GitCall, link: RawChange): Promise<string> {
  const { code, stdout } = await git.run(['cat-file', 'blob', link.newObject], call);
  // A link that cannot be read cannot be trusted either.
  return code === 0 ? stdout : '/';
}
