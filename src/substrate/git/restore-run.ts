import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { readPlain } from '../system/files/read-plain.ts';
import { exists } from '../system/files/exists.ts';
import { findOddEntries, orNothing } from '../system/files/odd-entry.ts';
import { deleteFolder } from '../system/files/remove-tree.ts';
import { ENGINE_FOLDERS, noteDown, readLeftNote } from './folder-note.ts';
import { discardFolder } from './discard-folder.ts';
import { folderPath, notePath, type GitContext, type RunRepository } from './git-context.ts';
import { isFolder } from './git-directory.ts';
import { headOf } from './run-branch.ts';
import { BARE_HEAD } from './run-repository.ts';
import { takeHead } from './take-commit.ts';

/** Compares the ids of objects up to this many bytes. */
const MOST_BYTES = 64 * 1024 * 1024;

/**
 * Removes damaged notes of a run: entries that are no file, where git could wait for ever, and a damaged run repository. Nothing is lost:
 * the user's repository has what is on record. Leaves an empty note for each task that had one.
 */
export async function removeDamaged(context: GitContext, run: string): Promise<void> {
  const notes = notePath(context, run, '');
  // A link in the place of the folder itself leads to the notes.
  const odd = findOddEntries(notes, { links: true }).filter(({ path }) => path !== notes);
  const names = await readdir(notes, { withFileTypes: true });
  const folders = names.filter(
    (entry) => entry.isDirectory() && /\.(?:json|index)$|^(?:engine|stores)$/.test(entry.name),
  );
  for (const path of [...odd.map((one) => one.path), ...folders.map(({ name }) => join(notes, name))]) {
    await deleteFolder(path);
    if (dirname(path) === notes && taskOf(basename(path)).length > 0) await writeFile(path, '', { mode: 0o600 });
  }
  const directory = join(notes, 'run.git');
  if (names.some(({ name }) => name === 'run.git') && !(await isSound(directory))) await deleteFolder(directory);
}

function taskOf(name: string): string[] {
  const task = /^([^/]+)\.json$/.exec(name)?.[1];
  return task === undefined ? [] : [task];
}

/** Files that squad writes each time that it opens the repository. */
const WRITTEN = ['config', 'packed-refs', 'objects/info/alternates', 'info/exclude', 'info/attributes'];

async function isSound(directory: string): Promise<boolean> {
  const head = await readPlain(join(directory, 'HEAD')).catch(() => undefined);
  if (head !== BARE_HEAD) return false;
  for (const name of ['objects', 'objects/info', 'objects/pack', 'refs', 'info']) {
    if (!(await isFolder(join(directory, name)))) return false;
  }
  for (const name of WRITTEN) if (await isFolder(join(directory, name))) return false;
  return areWhole(join(directory, 'objects'));
}

/**
 * Whether single objects have the ids that they are named by. git would share a damaged one with the user's repository. Without a wait
 * for each, which takes twenty times as long.
 */
function areWhole(objects: string): boolean {
  let bytes = 0;
  for (const folder of readdirSync(objects).filter((name) => /^[0-9a-f]{2}$/.test(name))) {
    if (!statSync(join(objects, folder)).isDirectory()) continue;
    for (const name of readdirSync(join(objects, folder))) {
      if (!/^(?:[0-9a-f]{38}|[0-9a-f]{62})$/.test(name)) continue;
      const object = orNothing(() => readFileSync(join(objects, folder, name)));
      bytes += object?.length ?? 0;
      if (bytes > MOST_BYTES) return true;
      const content = object && orNothing(() => inflateSync(object));
      const algorithm = name.length === 38 ? 'sha1' : 'sha256';
      if (content === undefined || createHash(algorithm).update(content).digest('hex') !== folder + name) return false;
    }
  }
  return true;
}

/**
 * Writes notes about folders again that cannot be read any more: a task works on from where its folder left the run branch. A folder of
 * which even that cannot be read counts as deleted.
 */
export async function restoreNotes(context: GitContext, repository: RunRepository): Promise<void> {
  const { run } = repository;
  const names = await readdir(notePath(context, run, ''));
  for (const task of names.flatMap(taskOf)) {
    const path = folderPath(context, run, task);
    if ((await exists(path)) && !(await isFolder(path))) await deleteFolder(path);
    const text = await readPlain(notePath(context, run, `${task}.json`)).catch(() => '');
    const note = readLeftNote(text);
    const isOwn = note?.run === run && note.task === task;
    if (isOwn && (await context.talk.find(`${note.base}^{commit}`)) !== undefined) continue;
    if (!(await restoreNote(context, repository, task))) await discardFolder(context, run, task);
  }
}

async function restoreNote(context: GitContext, repository: RunRepository, task: string): Promise<boolean> {
  const { run } = repository;
  const path = folderPath(context, run, task);
  if (ENGINE_FOLDERS.includes(task) || !(await isFolder(path))) return false;
  const [head, branch] = [await takeHead(context, repository, task), await headOf(context, run)];
  if (head.type !== 'head' || branch === undefined) return false;
  const found = await context.git.run(['merge-base', head.commit, branch], repository.call);
  if (found.code !== 0) return false;
  const base = found.stdout.trim();
  await noteDown(context, { run, task, base, workspace: { path, repository: true } });
  return true;
}
