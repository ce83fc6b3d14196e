import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { splitEntries, type Git } from './git-call.ts';
import { readDiffText, type MergeCalls } from './merge-calls.ts';
import { NOT_THERE, type RawChange } from './raw-diff.ts';

/** Why the files of a merge cannot be written. */
export type Loss =
  /** git does not know these files, and the merge has others of the same names. */
  | { readonly type: 'untracked'; readonly files: readonly string[] }
  /** A filter of the user's configuration would have to write these files, and squad runs none. */
  | { readonly type: 'filtered'; readonly files: readonly string[] };

const PATHS_AT_ONCE = 200;

/** The paths that differ between the checkout and the merge. */
export async function listUnlikeMerge(git: Git, calls: MergeCalls): Promise<ReadonlySet<string>> {
  // The index of the merge knows no file's time yet. The exit code says that files differ.
  await git.run(['update-index', '-q', '--refresh'], calls.target);
  return new Set(splitEntries(await readDiffText(git, calls, ['diff-files', '-z', '--name-only'], calls.target)));
}

/** The files that git does not know where the merge has others. git itself overwrites ignored files, and these may be a person's. */
export async function listUntracked(
  git: Git,
  { checkout }: MergeCalls,
  root: string,
  changes: readonly RawChange[],
): Promise<string[]> {
  const gone = new Set(changes.flatMap(({ path, oldMode }) => (oldMode === NOT_THERE ? [] : [path])));
  const found = new Set<string>();
  for (const { path, oldMode, newMode } of changes) {
    if (oldMode !== NOT_THERE || newMode === NOT_THERE) continue;
    const place = await firstThere(root, path);
    if (place === undefined) continue;
    if (!place.isFolder) {
      if (!gone.has(place.path)) found.add(place.path);
    } else if (place.path === path) {
      const args = ['--literal-pathspecs', 'ls-files', '-z', '--others', '--', path];
      for (const other of splitEntries((await git.run(args, checkout)).stdout)) found.add(other);
    }
  }
  return [...found];
}

/** The path, or the first one on the way to it that is no folder; undefined: nothing is there. */
async function firstThere(root: string, path: string): Promise<{ path: string; isFolder: boolean } | undefined> {
  const parents: string[] = [];
  for (let at = dirname(path); at !== '.'; at = dirname(at)) parents.unshift(at);
  for (const at of [...parents, path]) {
    const found = await lstat(join(root, at)).catch(() => undefined);
    if (found === undefined) return undefined;
    if (!found.isDirectory() || at === path) return { path: at, isFolder: found.isDirectory() };
  }
  return undefined;
}

/** The files that a filter of the user's configuration would have to write. */
export async function listFiltered(
  git: Git,
  { settings, target }: MergeCalls,
  changes: readonly RawChange[],
): Promise<string[]> {
  const filters = new Set(settings.flatMap(({ key }) => /^filter\.([^]*)\.(?:smudge|process)$/.exec(key)?.[1] ?? []));
  if (filters.size === 0) return [];
  const written = changes.flatMap(({ path, newMode }) => (newMode.startsWith('100') ? [path] : []));
  const found: string[] = [];
  for (let at = 0; at < written.length; at += PATHS_AT_ONCE) {
    const args = ['check-attr', '--cached', '-z', 'filter', '--', ...written.slice(at, at + PATHS_AT_ONCE)];
    // Path, attribute and value of each file.
    const fields = (await git.text(args, target)).split('\0');
    for (let field = 0; field + 2 < fields.length; field += 3) {
      if (filters.has(fields[field + 2] ?? '')) found.push(fields[field] ?? '');
    }
  }
  return found;
}
