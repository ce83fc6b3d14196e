import type { ChangedFile, CommitLine } from '../ports/workspaces.ts';
import { gitFailed, requireCommitId, splitEntries } from './git-call.ts';
import { anyPlace, type GitContext } from './git-context.ts';
import { readRawDiff } from './raw-diff.ts';

const MOST_COMMITS = 1000;
const STATUS: Readonly<Record<string, ChangedFile['status']>> = {
  A: 'added',
  D: 'deleted',
  M: 'modified',
  T: 'retyped',
};

export async function commitsBetween(
  context: GitContext,
  base: string,
  commit: string,
  merges?: 'without-merges',
): Promise<readonly CommitLine[]> {
  const range = `${requireCommitId(base)}..${requireCommitId(commit)}`;
  const which = merges === undefined ? [] : ['--no-merges'];
  const args = ['log', ...LINE_FORMAT, ...which, `--max-count=${MOST_COMMITS}`, '--end-of-options', range];
  return parseLines(await context.git.text(args, (await anyPlace(context)).call));
}

/** How `git log` writes the lines that `parseLines` reads. */
export const LINE_FORMAT = ['--no-show-signature', '--no-decorate', '-z', '--format=%H %<(200,trunc)%s'];

export function parseLines(listing: string): readonly CommitLine[] {
  return splitEntries(listing).map((line) => {
    const end = line.indexOf(' ');
    return { commit: line.slice(0, end), subject: line.slice(end + 1).trim() };
  });
}

export async function changedFiles(context: GitContext, base: string, commit: string): Promise<readonly ChangedFile[]> {
  const [from, to] = [requireCommitId(base), requireCommitId(commit)];
  const changes = await readRawDiff(context, (await anyPlace(context)).call, from, to);
  return changes.map(({ path, status }) => ({ path, status: STATUS[status] ?? 'modified' }));
}

export async function diffStat(context: GitContext, base: string, commit: string): Promise<string> {
  const safe = ['--no-ext-diff', '--no-textconv', '--no-color', '--ignore-submodules=none'];
  const ids = [requireCommitId(base), requireCommitId(commit)];
  const stat = await context.git.text(
    ['diff', ...safe, '--stat=120', '--stat-count=200', '--end-of-options', ...ids, '--'],
    (await anyPlace(context)).call,
  );
  // Each line begins with a space; that of the first is lost with the text's own.
  return stat === '' ? '' : ` ${stat}`;
}

export async function isFileAt(context: GitContext, commit: string, path: string): Promise<boolean> {
  return (await entryAt(context, commit, path))?.isFile === true;
}

export async function readFileAt(
  context: GitContext,
  commit: string,
  path: string,
  most: number,
): Promise<Uint8Array | 'absent' | 'not-a-file' | 'too-large'> {
  const entry = await entryAt(context, commit, path);
  if (entry === undefined) return 'absent';
  if (!entry.isFile) return 'not-a-file';
  if (entry.bytes > most) return 'too-large';
  const content = await (await anyPlace(context)).talk.blob(entry.object);
  if (content !== undefined) return content;
  throw gitFailed(['cat-file'], { code: null, stdout: '', stderr: '', problem: `the content of ${path} is missing` });
}

interface TreeEntry {
  readonly isFile: boolean;
  readonly object: string;
  readonly bytes: number;
}

/** No file system takes a longer one, and a program none that is very much longer. */
const LONGEST_PATH = 4096;

/** undefined: nothing is at this path. */
async function entryAt(context: GitContext, commit: string, path: string): Promise<TreeEntry | undefined> {
  requireCommitId(commit);
  // Paths in git have no such parts, and `commit:./x` would be relative to the engine's folder.
  const parts = path.split('/');
  if (
    path.length > LONGEST_PATH ||
    path.includes('\0') ||
    parts.some((part) => part === '' || part === '.' || part === '..')
  )
    return undefined;
  const args = ['--literal-pathspecs', 'ls-tree', '-z', '--long', '--full-tree', commit, '--', path];
  const listing = await context.git.text(args, (await anyPlace(context)).call);
  if (!listing.replace(/\0$/, '').endsWith(`\t${path}`)) return undefined;
  const [, mode = '', object = '', bytes] = /^(\d{6}) \w+ ([0-9a-f]+) +(\d+|-)\t/.exec(listing) ?? [];
  return { isFile: mode.startsWith('100'), object, bytes: Number(bytes) };
}
