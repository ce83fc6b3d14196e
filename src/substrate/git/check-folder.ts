import { mkdir, rename, writeFile } from 'node:fs/promises';
import { discardFolder } from './discard-folder.ts';
import { dirname, join } from 'node:path';
import { readPlain } from '../system/files/read-plain.ts';
import { z } from 'zod';
import { parseJson } from '../../text/json.ts';
import { failpoint } from '../system/failpoint.ts';
import { exists } from '../system/files/exists.ts';
import { openPlainFolder, textOfPath, type PlainFolder } from '../system/files/plain-folder.ts';
import { deleteFolder } from '../system/files/remove-tree.ts';
import type { BroughtBack, TaskFolder } from '../ports/workspaces.ts';
import { fillingOf } from './folder-note.ts';
import { addFolder, bringTo } from './folders.ts';
import { folderPath, notePath, type GitContext } from './git-context.ts';
import { keepDirectory, makeGitDirectory } from './git-directory.ts';
import { openRun } from './open-run.ts';
import { readRawDiff } from './raw-diff.ts';
import { findChanges, readTree, type Place } from './read-folder.ts';
import { coneOf } from './sparse-cone.ts';
import type { FolderFindings } from './walk-folder.ts';

/** So many changed paths are named. */
const MOST_NAMED = 20;

const noteSchema = z.object({ key: z.string(), made: z.record(z.string(), z.string()) });

/** Notes what `setup` made in a folder in which only the engine works: the files that git ignores, and its git directory. */
export async function noteMade(context: GitContext, folder: TaskFolder): Promise<void> {
  const { place, path } = await lookAt(context, folder);
  const found = await findChanges(context, place);
  const made = 'type' in found ? {} : Object.fromEntries(await statesOf(openPlainFolder(path), found.ignored));
  await keepDirectory(context, folder);
  const note = madeNote(context, folder);
  await writeFile(`${note}.new`, JSON.stringify({ key: fillingOf(folder), made }), { mode: 0o600 });
  await rename(`${note}.new`, note);
}

/** Whether `noteMade` was called for the folder as it is. */
export async function hasMade(context: GitContext, folder: TaskFolder): Promise<boolean> {
  return (await readMade(context, folder)) !== undefined;
}

export async function bringBack(
  context: GitContext,
  folder: TaskFolder,
  keep: readonly string[],
  ignored: 'stay' | 'go',
): Promise<BroughtBack> {
  const { place, path } = await lookAt(context, folder);
  const made = await readMade(context, folder);
  const found = await findChanges(context, place);
  if (made === undefined || 'type' in found) return { changed: [], more: 0, isWhole: false };
  const changed = isSame(found) ? [] : await changedIn(context, place);
  const named = { changed: changed.slice(0, MOST_NAMED), more: Math.max(0, changed.length - MOST_NAMED) };
  const isWhole = ignored === 'stay' || (await clearIgnored(path, found, { made, keep }));
  const repository = await openRun(context, folder.run);
  try {
    if (!isSame(found)) await bringTo(context, folder, folder.base);
    await makeGitDirectory(context, repository, folder.task, folder.base, 'as-kept');
  } catch {
    return { ...named, isWhole: false };
  }
  return { ...named, isWhole };
}

/** Makes a folder in which only the engine works again, at its commit. Ignored paths that `keep` names come along. */
export async function makeAnew(context: GitContext, folder: TaskFolder, keep: readonly string[]): Promise<TaskFolder> {
  const { run, task, base, remade = 0 } = folder;
  const { place, path } = await lookAt(context, folder);
  const aside = join(context.temporary, 'kept-for-checks');
  await deleteFolder(aside);
  const found = keep.length === 0 ? undefined : await findChanges(context, place);
  const kept = found === undefined || 'type' in found ? [] : await keptOf(openPlainFolder(path), found.ignored, keep);
  for (const name of kept) await moveInto(path, aside, name);
  failpoint('git.set-aside');
  await discardFolder(context, run, task);
  const made = await addFolder(context, { run, task, commit: base, remade: remade + 1 });
  for (const name of kept) await moveInto(aside, made.workspace.path, name);
  await deleteFolder(aside);
  return made;
}

/** The folder holds the files of the commit, and others that git ignores. */
export function isSame(found: FolderFindings): boolean {
  const { files, gone, repositories, folders, others } = found;
  return files.length + gone.length + repositories.size + folders.length + others.length === 0;
}

/** The files of the commit that are different by now. */
async function changedIn(context: GitContext, place: Place): Promise<readonly string[]> {
  const read = await readTree(context, place);
  if (read.type === 'unreadable') return [];
  const differences = await readRawDiff(context, place.call, place.tree, read.tree);
  return differences.filter(({ status }) => status !== 'A').map(({ path }) => path);
}

/** Deletes the ignored files that `setup` did not make. false: one that it made is changed or gone. */
async function clearIgnored(
  path: string,
  { ignored }: FolderFindings,
  { made, keep }: { made: ReadonlyMap<string, string>; keep: readonly string[] },
): Promise<boolean> {
  const now = await statesOf(openPlainFolder(path), ignored);
  const isKept = keptBy(keep);
  const stay = new Set([...now.keys()].filter(isKept).flatMap(withFolders));
  let deleted: string | undefined;
  for (const name of now.keys()) {
    if (deleted !== undefined && name.startsWith(`${deleted}/`)) continue;
    if (made.has(name) || stay.has(name)) continue;
    await deleteFolder(join(path, textOfPath(name)));
    deleted = name;
  }
  return [...made].every(([name, state]) => now.get(name) === state || isKept(name));
}

/** A path and the folders that it is in. */
function withFolders(path: string): string[] {
  return path.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'));
}

/** So many files are looked at before other work of the engine has its turn. */
const SLICE = 500;

/** Ignored files and folders by path, with what changes when one is written. A folder comes before what is in it. */
async function statesOf(plain: PlainFolder, ignored: FolderFindings['ignored']): Promise<Map<string, string>> {
  const states = new Map<string, string>();
  const enter = async (path: string, kind: string): Promise<void> => {
    states.set(path, kind === 'folder' ? 'folder' : stateOf(plain, path));
    if (states.size % SLICE === 0) await new Promise((resolve) => setImmediate(resolve));
    if (kind !== 'folder') return;
    for (const entry of plain.list(path) ?? []) await enter(`${path}/${entry.name}`, entry.kind);
  };
  for (const { path, kind } of ignored) await enter(path, kind);
  return states;
}

/** The time of the last change of any kind: no program can set it. */
function stateOf(plain: PlainFolder, path: string): string {
  const found = plain.stat(path);
  return found === undefined ? '' : `${found.size} ${found.mode} ${found.ctimeNs}`;
}

/** The topmost ignored paths that `keep` names. */
async function keptOf(
  plain: PlainFolder,
  ignored: FolderFindings['ignored'],
  keep: readonly string[],
): Promise<readonly string[]> {
  const kept: string[] = [];
  for (const name of [...(await statesOf(plain, ignored)).keys()].filter(keptBy(keep))) {
    if (!name.startsWith(`${kept.at(-1) ?? ''}/`)) kept.push(name);
  }
  return kept;
}

/** A name without a slash counts in every folder, as in `.gitignore`, and one that begins with a slash only there. */
function keptBy(keep: readonly string[]): (path: string) => boolean {
  const patterns = keep.map((pattern) => Buffer.from(pattern).toString('latin1'));
  return (path) =>
    patterns.some(
      (one) =>
        `/${path}` === one ||
        path === one ||
        path.startsWith(`${one}/`) ||
        (!one.includes('/') && path.split('/').includes(one)),
    );
}

async function moveInto(from: string, to: string, name: string): Promise<void> {
  const [source, target] = [join(from, textOfPath(name)), join(to, textOfPath(name))];
  if (!(await exists(source)) || (await exists(target))) return;
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  await rename(source, target);
}

export async function lookAt(
  context: GitContext,
  { run, task, base }: TaskFolder,
): Promise<{ place: Place; path: string }> {
  const repository = await openRun(context, run);
  const { call, talk } = repository;
  const path = folderPath(context, run, task);
  const tree = (await talk.commit(base))?.tree ?? '';
  return {
    path,
    place: {
      folder: path,
      call,
      index: notePath(context, run, `${task}.index`),
      commit: base,
      tree,
      cone: coneOf(repository, task),
    },
  };
}

async function readMade(context: GitContext, folder: TaskFolder): Promise<ReadonlyMap<string, string> | undefined> {
  const text = await readPlain(madeNote(context, folder)).catch(() => '');
  const note = noteSchema.safeParse(parseJson(text)).data;
  return note?.key === fillingOf(folder) ? new Map(Object.entries(note.made)) : undefined;
}

function madeNote(context: GitContext, { run, task }: TaskFolder): string {
  return notePath(context, run, `${task}.made`);
}
