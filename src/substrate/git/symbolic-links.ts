import type { EscapingLink } from '../ports/changes.ts';
import { LINK_MODE, readRawDiff, emptyTree, type RawChange } from './raw-diff.ts';
import { anyPlace, type GitContext } from './git-context.ts';

/** git and the system give up after as many hops. */
const MAX_HOPS = 40;
const AT_ONCE = 8;

/** Links that leave the tree at `commit` and did not, as they are, at `base` (bar S3). */
export async function findEscapingLinks(
  context: GitContext,
  base: string,
  commit: string,
): Promise<readonly EscapingLink[]> {
  const changes = await readRawDiff(context, (await anyPlace(context)).call, base, commit);
  // The target of a link depends on links only, so without a changed link no target changed.
  if (!changes.some((change) => change.oldMode === LINK_MODE || change.newMode === LINK_MODE)) return [];
  const before = decideEscapes(await readLinks(context, base));
  const known = new Set(before.map(({ path, target }) => `${path}\0${target}`));
  const now = decideEscapes(await readLinks(context, commit));
  return now.filter(({ path, target }) => !known.has(`${path}\0${target}`));
}

/** The links that lead out of a tree with all these links, or into a git directory. */
export function decideEscapes(links: ReadonlyMap<string, string>): readonly EscapingLink[] {
  return [...links].filter(([path]) => escapes(links, path)).map(([path, target]) => ({ path, target }));
}

/** Follows a link through other links, as the system does: `d/e/../x` looks inside, but is outside if `d/e` links to the top. */
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
    // A circle has no target.
    if (hops > MAX_HOPS) return false;
    if (target.startsWith('/')) return true;
    ahead.unshift(...target.split('/'));
  }
  return false;
}

async function readLinks(context: GitContext, commit: string): Promise<Map<string, string>> {
  const all = await readRawDiff(context, (await anyPlace(context)).call, emptyTree(commit), commit);
  const links = all.filter((change) => change.newMode === LINK_MODE);
  const targets = new Map<string, string>();
  for (let from = 0; from < links.length; from += AT_ONCE) {
    const some = links.slice(from, from + AT_ONCE);
    const read = await Promise.all(some.map(async (link) => [link.path, await readTarget(context, link)] as const));
    for (const [path, target] of read) targets.set(path, target);
  }
  return targets;
}

async function readTarget(context: GitContext, link: RawChange): Promise<string> {
  const { code, stdout } = await context.git.run(['cat-file', 'blob', link.newObject], (await anyPlace(context)).call);
  // An unreadable link counts as one that escapes.
  return code === 0 ? stdout : '/';
}
