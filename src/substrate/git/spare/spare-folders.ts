import { createHash } from 'node:crypto';
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { wrongEnvironment } from '../../../model/errors.ts';
import { failpoint } from '../../system/failpoint.ts';
import { findMount } from '../../system/files/find-mount.ts';
import { storesBehind } from '../../system/files/object-stores.ts';
import { deleteFolder } from '../../system/files/remove-tree.ts';
import { findUsers } from '../../system/process/folder-users.ts';
import { readBootId } from '../../system/process/process-table.ts';
import type { FolderOrder } from '../../ports/workspaces.ts';
import type { GitCall } from '../git-call.ts';
import { callOn, folderPath, notePath, type GitContext, type RunRepository } from '../git-context.ts';
import { copyIndex } from '../git-directory.ts';
import { folderBytes } from '../folder-room.ts';
import { readIndex } from '../read-folder.ts';
import { makeBare, writeSettings } from '../run-repository.ts';
import { isWhole } from '../sparse-cone.ts';
import { digestOf, notedStates, noteStates, readStates } from './folder-states.ts';
import { moveUntouched } from './move-untouched.ts';
import {
  claim,
  FILES,
  freeBytes,
  INDEX,
  listPool,
  newEntry,
  noteWanted,
  notePlace,
  poolOf,
  readSpareNote,
  release,
  sparseOf,
  usesSpares,
  wantedOf,
  type SpareNote,
} from './spare-pool.ts';

/** Notes of what a leftover was: the commit of its task, for which it was last filled, and its folders after the first time. */
const LEFT_AT = 'left-at';
const FOLDERS = 'folders';

/** Gives a task a spare folder, with the engine's index of it. false: there is none, and its folder has to be made. */
export async function takeSpare(
  context: GitContext,
  { run }: RunRepository,
  { task, freeOne }: Pick<FolderOrder, 'task' | 'freeOne'>,
): Promise<boolean> {
  if (!usesSpares(context) || isWhole(context, task)) return false;
  // To bring one back is faster than to make one: the system moves a file sooner than it makes one.
  const own = (await findReady(context)) ?? (await findLeft(context)) ?? (await findFreed(context, freeOne));
  if (own === undefined) return false;
  failpoint('git.spare-claimed');
  const index = notePath(context, run, `${task}.index`);
  try {
    renameSync(join(own, INDEX), index);
    renameSync(join(own, FILES), folderPath(context, run, task));
  } catch {
    // The run's folder is on another disk.
    rmSync(index, { force: true });
    release(context, own, 'left');
    return false;
  }
  failpoint('git.spare-taken');
  await deleteFolder(own);
  return true;
}

/** Remembers how a folder is that was filled just now, before anyone works there. */
export function noteFilled(context: GitContext, { run, task, commit }: FolderOrder): void {
  if (!usesSpares(context)) return;
  const index = readIndex(notePath(context, run, `${task}.index`), commit);
  const states =
    index === undefined ? undefined : readStates(folderPath(context, run, task), index.file, index.written);
  if (states !== undefined) noteStates(notePath(context, run, `${task}.folders`), states);
}

async function findReady(context: GitContext): Promise<string | undefined> {
  for (const entry of listPool(context)) {
    const own = entry.state === 'ready' ? claim(context, entry) : undefined;
    if (own === undefined) continue;
    if (await isAsOffered(context, own)) return own;
    release(context, own, 'left');
  }
  return undefined;
}

async function findFreed(context: GitContext, freeOne: FolderOrder['freeOne']): Promise<string | undefined> {
  if (freeOne === undefined) return undefined;
  while (await freeOne()) {
    const own = await findLeft(context);
    if (own !== undefined) return own;
  }
  return undefined;
}

async function findLeft(context: GitContext): Promise<string | undefined> {
  for (const entry of listPool(context)) {
    const own = entry.state === 'left' ? claim(context, entry) : undefined;
    if (own === undefined) continue;
    const fresh = await bringBack(context, own);
    // Nothing of use is left in it.
    rmSync(join(own, LEFT_AT), { force: true });
    release(context, own, 'left');
    if (fresh !== undefined) return fresh;
  }
  return undefined;
}

/** It is what was offered: nothing came to it or went since, and it fits the repository. What git sees of changed files it writes again. */
async function isAsOffered(context: GitContext, own: string): Promise<boolean> {
  const note = readSpareNote(own);
  if (note === undefined || note.boot !== readBootId() || note.settings !== (await settingsOf(context))) return false;
  const index = readIndex(join(own, INDEX), note.commit);
  const states = index === undefined ? undefined : readStates(join(own, FILES), index.file);
  return states !== undefined && digestOf(states) === note.folders;
}

/**
 * Moves a folder aside, whose work is kept or that has none, to be brought back or deleted later. `commit`: what its task was given.
 * false: it stays, and has to be deleted.
 */
export async function setAside(
  context: GitContext,
  { run, task }: { readonly run: string; readonly task: string },
  commit: string | undefined,
): Promise<boolean> {
  const path = folderPath(context, run, task);
  if (!usesSpares(context) || isWhole(context, task)) return false;
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  // It would come along.
  if (findMount(path) !== undefined) return false;
  const own = newEntry(context);
  try {
    mkdirSync(own, { mode: 0o700 });
    const index = notePath(context, run, `${task}.index`);
    if (commit !== undefined && existsSync(index)) {
      copyIndex(index, join(own, INDEX));
      const states = notePath(context, run, `${task}.folders`);
      if (existsSync(states)) renameSync(states, join(own, FOLDERS));
      writeFileSync(join(own, LEFT_AT), commit, { mode: 0o600 });
    }
    // A folder that cannot be written cannot be moved.
    chmodSync(path, 0o700);
    renameSync(path, join(own, FILES));
    failpoint('git.moved-aside');
    release(context, own, 'left');
    return true;
  } catch {
    await deleteFolder(own);
    return !existsSync(path);
  }
}

/**
 * Does one piece of what is left to do with spare folders: brings back or deletes one that a task left, makes one at `commit`, or deletes
 * one too many. false: nothing is left. Several processes may do this at once.
 */
export async function tidySpares(context: GitContext, commit: string | undefined): Promise<boolean> {
  const entries = listPool(context);
  const ready = entries.filter(({ state }) => state === 'ready');
  const { most, free } = wantedOf(context);
  const room = freeBytes(context.runsDirectory) - free;
  const isWanted = usesSpares(context) && room > 0;
  const isShort = isWanted && ready.length < most;
  if (isWanted) noteWanted(context);
  const left = entries.find(({ state, isFree }) => isFree && state !== 'ready');
  if (left !== undefined) {
    const own = claim(context, left);
    if (own === undefined) return true;
    const fresh = isShort && left.state === 'left' ? await bringBack(context, own) : undefined;
    if (fresh !== undefined) release(context, fresh, 'ready');
    await deleteFolder(own);
    return true;
  }
  const [surplus] = isWanted ? ready.slice(most) : ready;
  if (surplus !== undefined) {
    const own = claim(context, surplus);
    if (own !== undefined) await deleteFolder(own);
    return true;
  }
  // One that leaves too little free would be deleted next, and made again.
  const fits = isShort && commit !== undefined && folderBytes(context, commit) < room;
  const made = fits ? await makeSpare(context, commit) : undefined;
  if (made !== undefined) release(context, made, 'ready');
  return made !== undefined;
}

/** See `Workspaces.dropSpares`. */
export async function dropSpares(context: GitContext, dryRun: boolean): Promise<number> {
  const found = listPool(context).length;
  const problem = found === 0 || dryRun ? undefined : await deleteFolder(poolOf(context));
  if (problem !== undefined) throw wrongEnvironment(`the spare folders cannot be deleted: ${problem}`);
  return found;
}

/** Moves what no one has touched to a spare folder of its own. What is left stays where it is. undefined: nothing can be brought back. */
async function bringBack(context: GitContext, own: string): Promise<string | undefined> {
  const [files, commit] = [join(own, FILES), readLeft(own)];
  const index = commit === undefined ? undefined : readIndex(join(own, INDEX), commit);
  if (commit === undefined || index === undefined) return undefined;
  if (findUsers(files).length > 0 || findMount(files) !== undefined) return undefined;
  if (index.file.entries.size < context.spares.from) return undefined;
  const states = notedStates(join(own, FOLDERS));
  return makeSpare(context, commit, async (fresh) => moveUntouched(files, fresh, { ...index, states }));
}

function readLeft(own: string): string | undefined {
  try {
    return readFileSync(join(own, LEFT_AT), 'utf8');
  } catch {
    return undefined;
  }
}

/** Makes a spare folder at a commit. `fill` puts files of it there before git does the rest. undefined: it could not be made. */
async function makeSpare(
  context: GitContext,
  commit: string,
  fill: (files: string) => Promise<void> = async () => undefined,
): Promise<string | undefined> {
  if ((await context.talk.find(`${commit}^{commit}`)) === undefined) return undefined;
  const own = newEntry(context);
  const files = join(own, FILES);
  try {
    mkdirSync(files, { recursive: true, mode: 0o700 });
    await fill(files);
    failpoint('git.spare-moved');
    const call = await poolCall(context, own);
    await context.git.text(['read-tree', commit], call);
    // Reads and hashes every file. It fails if one is missing, which the next command makes.
    await context.git.run(['update-index', '--refresh', '-q'], call);
    await context.git.text(['read-tree', '--reset', '-u', commit], call);
    const made = readIndex(join(own, INDEX), commit);
    const states = made === undefined ? undefined : readStates(files, made.file);
    if (made === undefined || states === undefined || made.file.entries.size < context.spares.from) {
      await deleteFolder(own);
      return undefined;
    }
    const folders = digestOf(states);
    const note: SpareNote = { commit, boot: readBootId(), settings: await settingsOf(context), folders };
    writeFileSync(notePlace(own), JSON.stringify(note), { mode: 0o600 });
    failpoint('git.spare-made');
    return own;
  } catch {
    // A task gets a folder of its own then.
    await deleteFolder(own);
    return undefined;
  }
}

/** A repository with the user's objects and the settings of a run's, and none of an agent's. */
async function poolCall(context: GitContext, own: string): Promise<GitCall> {
  const { commonDirectory, temporary } = context;
  const directory = join(temporary, 'spare.git');
  const store = join(commonDirectory, 'objects');
  if (!existsSync(directory)) {
    makeBare(directory, '', [store], commonDirectory);
    await writeSettings({ ...context, sparse: sparseOf(context) }, directory);
  }
  const files = join(own, FILES);
  const readable = [directory, ...(await storesBehind(store))];
  return {
    ...callOn(directory),
    ...{ cwd: files, workTree: files, index: join(own, INDEX) },
    cage: { writable: [own], readable },
  };
}

async function settingsOf(context: GitContext): Promise<string> {
  const text = JSON.stringify([await context.userConfiguration(), sparseOf(context)]);
  const sparse = join(context.commonDirectory, 'info', 'sparse-checkout');
  const hash = createHash('sha256').update(text);
  return (existsSync(sparse) ? hash.update(readFileSync(sparse)) : hash).digest('hex');
}
