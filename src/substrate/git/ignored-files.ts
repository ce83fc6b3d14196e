import { rename, writeFile } from 'node:fs/promises';
import { readPlain } from '../system/files/read-plain.ts';
import { z } from 'zod';
import { parseJson } from '../../text/json.ts';
import { openPlainFolder, textOfPath, type PlainFolder } from '../system/files/plain-folder.ts';
import type { IgnoredWork, TaskFolder } from '../ports/workspaces.ts';
import { fillingOf } from './folder-note.ts';
import { folderPath, notePath, type GitContext } from './git-context.ts';
import { copiedPaths } from './known-copies.ts';
import { isLeaving } from './leavings.ts';
import { openRun } from './open-run.ts';
import { findIgnoredPaths, treeWith } from './read-folder.ts';
import type { FoundFile } from './walk-folder.ts';

/** So many ignored paths of a folder are known; of more, some may be taken for new. */
const MOST_NAMES = 1000;
/** So many are named one by one. */
const MOST_TOLD = 20;
const MOST_FILE_BYTES = 1_048_576n;
const MOST_BYTES = 16n * MOST_FILE_BYTES;

const noteSchema = z.object({ key: z.string(), seen: z.record(z.string(), z.string()) });

/**
 * Notes which ignored files are in a folder before an agent works there, after what `setup` made: once for each time that it was
 * filled or moved.
 */
export async function noteIgnored(context: GitContext, folder: TaskFolder): Promise<void> {
  const key = fillingOf(folder);
  if ((await readNoted(context, folder))?.key === key) return;
  const found = folder.fresh === true ? [] : await findIgnored(context, folder, folder.base);
  const path = notePath(context, folder.run, `${folder.task}.ignored`);
  const seen = Object.fromEntries(found.slice(0, MOST_NAMES).map((one) => [one.path, one.state]));
  await writeFile(`${path}.new`, JSON.stringify({ key, seen }), { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** The ignored files that the task's turns wrote: no commit has them. Empty if no turn has begun there. */
export async function ignoredWork(context: GitContext, folder: TaskFolder, head: string): Promise<IgnoredWork> {
  const found = await findNew(context, folder, head);
  return {
    paths: found.slice(0, MOST_TOLD).map(({ path, kind, by }) => {
      return { path: `${textOfPath(path)}${kind === 'folder' ? '/' : ''}`, by };
    }),
    more: Math.max(0, found.length - MOST_TOLD),
  };
}

/** A tree with the small ones of these files besides; undefined: there are none. */
export async function treeWithIgnored(
  context: GitContext,
  folder: TaskFolder,
  { head, tree }: { head: string; tree: string },
): Promise<{ readonly tree: string; readonly paths: readonly string[] } | undefined> {
  const found = await findNew(context, folder, head);
  if (found.length === 0) return undefined;
  const path = folderPath(context, folder.run, folder.task);
  const plain = openPlainFolder(path);
  const room = { bytes: MOST_BYTES, files: MOST_NAMES, without: await copiedPaths(context, folder.run) };
  const kept = found.flatMap((one) => filesOf(plain, one, room));
  if (kept.length === 0) return undefined;
  const { call } = await openRun(context, folder.run);
  const files = kept.map(({ path: name, kind }): FoundFile => ({ path: name, kind, known: undefined }));
  const made = await treeWith(context, { folder: path, call, commit: head, tree }, files);
  return made.type === 'tree' ? { tree: made.tree, paths: kept.map((one) => textOfPath(one.path)) } : undefined;
}

interface Ignored {
  readonly path: string;
  readonly kind: 'file' | 'link' | 'folder';
  /** The file of rules that says so. */
  readonly by: string;
  readonly state: string;
}

async function findNew(context: GitContext, folder: TaskFolder, head: string): Promise<readonly Ignored[]> {
  const noted = await readNoted(context, folder);
  if (noted?.key !== fillingOf(folder)) return [];
  const found = await findIgnored(context, folder, head);
  return found.filter(({ path, state }) => noted.seen[path] !== state);
}

async function findIgnored(context: GitContext, folder: TaskFolder, commit: string): Promise<readonly Ignored[]> {
  const { run, task } = folder;
  const { call, talk } = await openRun(context, run);
  const tree = (await talk.commit(commit))?.tree;
  if (tree === undefined) return [];
  const place = { folder: folderPath(context, run, task), call, index: notePath(context, run, `${task}.index`) };
  const found = await findIgnoredPaths(context, { ...place, commit, tree });
  const plain = openPlainFolder(place.folder);
  const copied = await copiedPaths(context, run);
  const work = found.filter(({ path }) => !isLeaving(plain, path) && !copied.has(path));
  return work.map((one) => ({ ...one, state: one.kind === 'folder' ? 'folder' : stateOf(plain, one.path) }));
}

function stateOf(plain: PlainFolder, path: string): string {
  const found = plain.stat(path);
  return found === undefined ? '' : `${found.size} ${found.mtimeNs}`;
}

async function readNoted(context: GitContext, { run, task }: TaskFolder) {
  const text = await readPlain(notePath(context, run, `${task}.ignored`)).catch(() => '');
  return noteSchema.safeParse(parseJson(text)).data;
}

interface Room {
  /** Files that squad has put there. */
  readonly without: ReadonlySet<string>;
  bytes: bigint;
  files: number;
}

/** All files of a path, or none: what does not fit is no work that an agent has written itself. */
function filesOf(plain: PlainFolder, { path, kind }: Pick<Ignored, 'path' | 'kind'>, room: Room): readonly Kept[] {
  const left = { ...room };
  const files = kind === 'folder' ? filesBelow(plain, path, left) : fileAt(plain, path, kind, left);
  if (files === undefined) return [];
  Object.assign(room, left);
  return files;
}

interface Kept {
  readonly path: string;
  readonly kind: 'file' | 'link';
}

function filesBelow(plain: PlainFolder, folder: string, left: Room): readonly Kept[] | undefined {
  const files: Kept[] = [];
  for (const { name, kind } of plain.list(folder) ?? []) {
    const path = `${folder}/${name}`;
    if (name.toLowerCase() === '.git') return undefined;
    if (kind === 'other' || isLeaving(plain, path) || left.without.has(path)) continue;
    const some = kind === 'folder' ? filesBelow(plain, path, left) : fileAt(plain, path, kind, left);
    if (some === undefined) return undefined;
    files.push(...some);
  }
  return files;
}

function fileAt(plain: PlainFolder, path: string, kind: Kept['kind'], left: Room): readonly Kept[] | undefined {
  const size = plain.stat(path)?.size;
  if (size === undefined || size > MOST_FILE_BYTES || size > left.bytes || left.files === 0) return undefined;
  left.bytes -= size;
  left.files -= 1;
  return [{ path, kind }];
}
