import { existsSync } from 'node:fs';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readPlain } from '../system/files/read-plain.ts';
import { wrongEnvironment } from '../../model/errors.ts';
import { exists } from '../system/files/exists.ts';
import { makeOwnFolder } from '../system/files/own-folder.ts';
import { deleteFolder } from '../system/files/remove-tree.ts';
import { syncAll } from '../system/files/sync.ts';
import { readBootId } from '../system/process/process-table.ts';
import { forgetNotes, replaceFolders } from './after-cut.ts';
import { requireName } from './git-call.ts';
import { callOn, folderPath, type GitContext, notePath, runBranch, type RunRepository } from './git-context.ts';
import { removeDamaged, restoreNotes } from './restore-run.ts';
import { createTalk } from './repository-talk.ts';
import { copyRefs, createRunRepository, writeSettings } from './run-repository.ts';
import { storesBehind } from '../system/files/object-stores.ts';
import { isFolder, put, storesOf } from './git-directory.ts';

/**
 * Opens a run's repository, and creates it if it does not exist. Ends the git processes of a dead engine first. A repository that
 * was deleted is created again: the user's repository has what was kept.
 */
export async function openRun(context: GitContext, run: string): Promise<RunRepository> {
  const before = context.runs.get(requireName(run));
  if (before !== undefined) {
    const known = await before;
    if (await exists(known.directory)) return known;
    if (context.runs.get(run) !== before) return openRun(context, run);
    known.talk.close();
  }
  const opening = prepare(context, run);
  context.runs.set(run, opening);
  opening.catch(() => context.runs.delete(run));
  return opening;
}

/** As `openRun`; undefined if the run has no folder. */
export async function findRun(context: GitContext, run: string): Promise<RunRepository | undefined> {
  return (await exists(notePath(context, requireName(run), ''))) ? openRun(context, run) : undefined;
}

async function prepare(context: GitContext, run: string): Promise<RunRepository> {
  const { runsDirectory } = context;
  for (const folder of [runsDirectory, join(runsDirectory, run)]) makeOwnFolder(folder);
  makeOwnFolder(notePath(context, run, ''));
  const directory = notePath(context, run, 'run.git');
  await removeDamaged(context, run);
  const isAfterCut = await takeOver(context, run);
  if (isAfterCut) await forgetNotes(context, run);
  const call = callOn(directory);
  const talk = createTalk(context.git, call);
  const repository = {
    run,
    directory,
    linked: notePath(context, run, 'objects'),
    isSparse:
      context.sparse !== undefined ||
      existsSync(join(context.commonDirectory, 'info/sparse-checkout')) ||
      existsSync(join(directory, 'info/sparse-checkout')),
    call,
    talk,
    pinned: new Set<string>(),
    sent: { names: new Set<string>(), folders: new Map<string, number>() },
  };
  if (await exists(directory)) await writeSettings(context, directory);
  else await createRunRepository(context, repository);
  await followMove(context, repository);
  await copyRefs(context, repository);
  if (isAfterCut) {
    await replaceFolders(context, repository);
    await writeMarker(context, run);
  } else await restoreNotes(context, repository);
  return repository;
}

/**
 * git keeps running when its engine is killed. So each engine leaves its marker, and the next one ends what carries it. true: the
 * machine has started again since, and the engine before had not closed the run: what was not flushed may be damaged.
 */
async function takeOver(context: GitContext, run: string): Promise<boolean> {
  const holder = notePath(context, run, 'engine');
  const note = await readPlain(holder).catch(() => undefined);
  const [left = '', boot] = note?.split('\n') ?? [];
  if (left !== '' && left !== context.marker) {
    await endProcesses(context, left);
    await removeLocks(join(context.commonDirectory, 'refs/squad', run));
    await rm(join(context.commonDirectory, `${runBranch(run)}.lock`), { force: true });
    if (/^git-[0-9a-f-]{36}$/.test(left)) await deleteFolder(join(context.temporary, '..', `squad-${left}`));
  }
  // The own marker too: an opening that failed before has not replaced what the cut damaged.
  const isAfterCut = boot !== undefined && boot !== '' && boot !== readBootId();
  await writeMarker(context, run, isAfterCut ? boot : undefined);
  return isAfterCut;
}

/** On the disk before anything else of the run is: without it, nothing would be taken for damaged. */
async function writeMarker(context: GitContext, run: string, boot: string = readBootId()): Promise<void> {
  const folder = notePath(context, run, '');
  await writeFile(join(folder, 'engine'), `${context.marker}\n${boot}\n`, { mode: 0o600, flush: true });
  await syncAll([folder, dirname(folder), context.runsDirectory, dirname(context.runsDirectory)]);
}

/** Ends the git processes of a killed engine, which keep writing, before its files are touched. */
async function endProcesses(context: GitContext, marker: string): Promise<void> {
  const alive = await context.processes.sweep(marker);
  if (alive.length === 0) return;
  throw wrongEnvironment(
    `git processes of an earlier squad do not end: ${alive.join(', ')}`,
    `Look at them with \`ps -p ${alive.join(',')}\`, end them, and try again.`,
  );
}

/** Removes the locks that a killed git left on refs which only the engine moves. They would block every later move. */
async function removeLocks(folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  for (const name of names.filter((item) => item.endsWith('.lock'))) await rm(join(folder, name), { force: true });
}

/**
 * Names the object stores again that a run's repository and its folders borrow from, after the user's repository, the state folder or
 * both were moved. The note of what they borrow from comes last, because it tells that something is left to do.
 */
async function followMove(context: GitContext, repository: RunRepository): Promise<void> {
  const { run, directory, linked } = repository;
  const users = join(context.commonDirectory, 'objects');
  const [, ...behind] = await storesBehind(users);
  const stores = linesOf(await storesOf(context, repository));
  const known = notePath(context, run, 'stores');
  const text = stores + linesOf(behind);
  await replace(join(directory, 'objects', 'info', 'alternates'), linesOf([users]));
  if ((await readPlain(known).catch(() => undefined)) === text) return;
  for (const name of await readdir(notePath(context, run, ''))) {
    const task = /^(.+)\.json$/.exec(name)?.[1];
    const own = task === undefined ? undefined : join(folderPath(context, run, task), '.git');
    if (task === undefined || own === undefined || !(await isFolder(own))) continue;
    await put(own, 'objects/info/alternates', stores, notePath(context, run, `${task}.put`));
  }
  if (await isFolder(linked)) await replace(join(linked, 'info', 'alternates'), linesOf(behind));
  await replace(known, text);
}

function linesOf(paths: readonly string[]): string {
  return paths.map((path) => `${path}\n`).join('');
}

async function replace(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
