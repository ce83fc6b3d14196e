import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { wrongEnvironment } from '../../model/errors.ts';
import { failpoint } from '../system/failpoint.ts';
import { exists } from '../system/files/exists.ts';
import { orNothing } from '../system/files/odd-entry.ts';
import { readConfinedStart } from '../system/files/open-confined.ts';
import { deleteFolder } from '../system/files/remove-tree.ts';
import { storesBehind } from '../system/files/object-stores.ts';
import { findUsers } from '../system/process/folder-users.ts';
import { folderPath, notePath, type GitContext, type RunRepository } from './git-context.ts';
import { headOf } from './run-branch.ts';
import { makeBare } from './run-repository.ts';
import { isWhole } from './sparse-cone.ts';

/** An agent may have added submodules and large files to its git directory. They are kept. */
const CARRIED = ['modules', 'lfs'];

/**
 * Built from plain files and moved in by rename: no git runs on an agent's files. Refs, stashes and settings of the agent go; the caller
 * has kept their commits. `as-kept`: with the parts that `keepDirectory` kept.
 */
export async function makeGitDirectory(
  context: GitContext,
  repository: RunRepository,
  task: string,
  head: string,
  from: 'anew' | 'as-kept' = 'anew',
): Promise<void> {
  const { run, directory } = repository;
  const path = folderPath(context, run, task);
  if (!(await isFolder(path))) throw wrongEnvironment(`${path} is not a folder`, 'Move it away, and try again.');
  const note = (name: string): string => notePath(context, run, `${task}.${name}`);
  const [fresh, old, own] = [note('git-new'), note('git-old'), join(path, '.git')];
  rmSync(fresh, { recursive: true, force: true });
  await deleteFolder(old);
  makeBare(fresh, folderConfig(repository, isWhole(context, task)), await storesOf(context, repository), directory);
  writeFileSync(join(fresh, 'HEAD'), `${head}\n`);
  copyIndex(note('index'), join(fresh, 'index'));
  if (from === 'as-kept') await copyParts(note('git-kept'), fresh);
  await put(fresh, shownBranch(run), await runHeadLine(context, run), note('put'));
  if (await exists(own)) {
    // A folder that cannot be written cannot be moved.
    if (await isFolder(own)) chmodSync(own, 0o700);
    renameSync(own, old);
    for (const name of CARRIED) orNothing(() => renameSync(join(old, name), join(fresh, name)));
  }
  failpoint('git.directory-moved');
  renameSync(fresh, own);
  await deleteFolder(old);
}

/** Commands of a person may change these, besides objects and `CARRIED`. */
const PARTS = ['HEAD', 'config', 'packed-refs', 'refs', 'info', 'hooks'];

/** Keeps the settings and refs of a folder's git directory as they are, for `makeGitDirectory`. */
export async function keepDirectory(
  context: GitContext,
  { run, task }: { readonly run: string; readonly task: string },
): Promise<void> {
  const [own, kept] = [join(folderPath(context, run, task), '.git'), notePath(context, run, `${task}.git-kept`)];
  await deleteFolder(kept);
  mkdirSync(kept, { mode: 0o700 });
  if (await isFolder(own)) await copyParts(own, kept);
}

async function copyParts(from: string, to: string): Promise<void> {
  for (const name of PARTS) {
    if (!(await exists(join(from, name)))) continue;
    await deleteFolder(join(to, name));
    await cp(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
  }
}

/** The run branch as agents see it, like a branch of a remote: they can compare with it and merge it. */
function shownBranch(run: string): string {
  return `refs/remotes/squad/${run}`;
}

async function runHeadLine(context: GitContext, run: string): Promise<string | undefined> {
  const head = await headOf(context, run);
  return head === undefined ? undefined : `${head}\n`;
}

/** Besides settings, these can make git run a program or look elsewhere. */
const ARMS = ['config.worktree', 'commondir', 'hooks'];

/**
 * Restores the engine's settings and the run branch; removes hooks and locks of killed gits. Runs before each turn and before commands of
 * the engine, which have no sandbox. Commits, refs, index and the locks of running gits stay.
 */
export async function disarm(context: GitContext, repository: RunRepository, task: string): Promise<void> {
  const path = folderPath(context, repository.run, task);
  const own = join(path, '.git');
  // A link leads to a git directory that is not the task's.
  for (const folder of [path, own]) if (!(await isFolder(folder))) return;
  const locks = readdirSync(own).filter((name) => name.endsWith('.lock'));
  const left = locks.length > 0 && findUsers(path).length === 0 ? locks : [];
  for (const name of [...ARMS, ...left]) await deleteFolder(join(own, name));
  const attributes = orNothing(() => readFileSync(join(repository.directory, 'info/attributes'), 'utf8'));
  const files = [
    ['config', folderConfig(repository, isWhole(context, task))],
    ['info/attributes', attributes],
    [shownBranch(repository.run), await runHeadLine(context, repository.run)],
  ] as const;
  for (const [name, text] of files) await put(own, name, text, notePath(context, repository.run, `${task}.put`));
}

/**
 * Replaces a file of a git directory, or deletes it. No link there leads elsewhere. By rename, because a turn of an engine that
 * died may be at work there. `fresh`: where it is written first.
 */
export async function put(own: string, name: string, text: string | undefined, fresh: string): Promise<void> {
  let folder = own;
  for (const part of name.split('/').slice(0, -1)) {
    folder = join(folder, part);
    if (await isFolder(folder)) continue;
    await deleteFolder(folder);
    mkdirSync(folder);
  }
  const path = join(own, name);
  if (text === undefined || (await isFolder(path))) await deleteFolder(path);
  if (text === undefined) return;
  writeFileSync(fresh, text);
  renameSync(fresh, path);
}

function folderConfig({ directory }: RunRepository, hasAll: boolean): string {
  const all = hasAll ? '\tsparseCheckout = false\n' : '';
  return readFileSync(join(directory, 'config'), 'utf8').concat(`[core]\n\tbare = false\n${all}`);
}

/** Undoes a swap in which the engine was killed. false: the folder has no git directory. */
export async function hasGitDirectory(context: GitContext, run: string, task: string): Promise<boolean> {
  const path = folderPath(context, run, task);
  const [own, old] = [join(path, '.git'), notePath(context, run, `${task}.git-old`)];
  if ((await isFolder(path)) && !(await exists(own)) && (await exists(old))) renameSync(old, own);
  return exists(own);
}

/**
 * The object stores that a folder borrows from: the run's for the commits of colleagues, the user's, and the links to those of the
 * run's start. The engine's own repository does not borrow the links: it would deliver no object that only they still have.
 */
export async function storesOf(context: GitContext, repository: RunRepository): Promise<readonly string[]> {
  const stores = storesOfFolders(context, repository);
  return (await exists(repository.linked)) ? stores : stores.filter((store) => store !== repository.linked);
}

/** As `storesOf`, with the folder for the links even if there are none now. */
export function storesOfFolders(context: GitContext, { directory, linked }: RunRepository): readonly string[] {
  return [join(directory, 'objects'), join(context.commonDirectory, 'objects'), linked];
}

/** Includes the stores that those borrow from: a git in a cage has to see them. */
export async function borrowedStores(context: GitContext, repository: RunRepository): Promise<readonly string[]> {
  return (await Promise.all((await storesOf(context, repository)).map(storesBehind))).flat();
}

/** Keeps the times, because git considers a file unchanged only if it is older than the index. */
export function copyIndex(from: string, to: string): void {
  copyFileSync(from, to);
  copyTimes(from, to);
}

/** Rounded down, so that no file seems to be older than the index. */
export function copyTimes(from: string, to: string): void {
  const seconds = Math.floor(statSync(from).mtimeMs) / 1000;
  utimesSync(to, seconds, seconds);
}

const MOST_OBJECTS = 200_000;
const MOST_ALTERNATES = 1024 * 1024;

/** Why git must not read objects in this git directory: it leads elsewhere, or reading it would not end. undefined: it may. */
export async function findForeignStore(directory: string, stores: readonly string[]): Promise<string | undefined> {
  const objects = join(directory, 'objects');
  if (!(await isFolder(directory)) || !(await isFolder(objects))) return 'its .git/objects is not a folder';
  const open = [objects];
  for (let folder = open.pop(), seen = 0; folder !== undefined; folder = open.pop()) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    seen += entries.length;
    if (seen > MOST_OBJECTS) return `its .git/objects has more than ${MOST_OBJECTS} files`;
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) open.push(path);
      else if (!entry.isFile()) return `${path} is not a plain file`;
    }
  }
  const borrowed = await readConfinedStart(directory, 'objects/info/alternates', MOST_ALTERNATES);
  const foreign = borrowed?.text.split('\n').find((line) => line !== '' && !stores.includes(line));
  return foreign === undefined ? undefined : `its .git/objects/info/alternates names ${foreign}`;
}

export async function isFolder(path: string): Promise<boolean> {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

/** A git directory of the engine's that shows the objects of another one, and nothing else of it. */
export async function makeView(
  context: GitContext,
  repository: RunRepository,
  name: string,
  directory: string,
): Promise<string> {
  const view = notePath(context, repository.run, `${name}.view`);
  rmSync(view, { recursive: true, force: true });
  // A graph or an index of several packs that an agent made could hide history.
  const trusting = '[core]\n\tcommitGraph = false\n\tmultiPackIndex = false\n';
  const config = readFileSync(join(repository.directory, 'config'), 'utf8') + trusting;
  makeBare(view, config, [join(directory, 'objects'), ...(await storesOf(context, repository))], repository.directory);
  return view;
}
