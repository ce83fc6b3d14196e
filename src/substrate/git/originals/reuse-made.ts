import { renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { errorCode } from '../../../model/storage-error.ts';
import { parseJson } from '../../../text/json.ts';
import { failpoint } from '../../system/failpoint.ts';
import { lookIn, pathIn, textOfPath } from '../../system/files/plain-folder.ts';
import { readPlain } from '../../system/files/read-plain.ts';
import { findUsers } from '../../system/process/folder-users.ts';
import { readBootId } from '../../system/process/process-table.ts';
import type { MadeAnswer, MadeOrder } from '../../ports/made.ts';
import type { TaskFolder } from '../../ports/workspaces.ts';
import { isSame, lookAt } from '../check-folder.ts';
import { flush } from '../flush.ts';
import { fillingOf } from '../folder-note.ts';
import { folderPath, notePath, type GitContext } from '../git-context.ts';
import { readRawDiff } from '../raw-diff.ts';
import { findChanges, readTree } from '../read-folder.ts';
import { hasExactTimes } from '../settled-folders.ts';
import { stateOf } from '../spare/folder-states.ts';
import { freeBytes } from '../spare/spare-pool.ts';
import { copyTree } from './copy-tree.ts';
import { isPlaceIn, madeIn, makeAbove } from './made-paths.ts';
import { lookAtTree, type MadeTree } from './made-tree.ts';
import {
  claimKept,
  filesOf,
  listKept,
  newWork,
  offer,
  originalPlace,
  originalsOf,
  readKept,
  touchKept,
  writeKept,
  type KeptNote,
} from './original-pool.ts';
import { wanted } from './wanted.ts';

/** By command: what is in a folder, and since which filling of it. */
const noteSchema = z.record(
  z.string(),
  z.object({ key: z.string(), filling: z.string(), trees: z.record(z.string(), z.string()) }),
);
type Noted = z.infer<typeof noteSchema>;

/** See `Workspaces.reuseMade`. */
export async function reuseMade(
  context: GitContext,
  folder: TaskFolder,
  order: MadeOrder,
  make: () => Promise<boolean>,
): Promise<MadeAnswer> {
  if (!hasExactTimes(dirname(context.runsDirectory))) {
    const notKept = 'its file system does not tell each change of a file';
    return { type: (await make()) ? 'made' : 'failed', notKept };
  }
  if (await isThere(context, folder, order)) return { type: 'there' };
  if (await putMade(context, folder, order)) return { type: 'put' };
  return wanted(context).inTurn(order.key, async () => {
    // Another one has made it meanwhile.
    if (await putMade(context, folder, order)) return { type: 'put' };
    await noteReused(context, folder, order, undefined);
    if (!(await make())) return { type: 'failed' };
    const notKept = order.isKept ? await keepMade(context, folder, order) : undefined;
    return notKept === undefined ? { type: 'made' } : { type: 'made', notKept };
  });
}

async function isThere(context: GitContext, folder: TaskFolder, order: MadeOrder): Promise<boolean> {
  const noted = (await readReused(context, folder))[order.step];
  if (noted?.key !== order.key) return false;
  if (noted.filling === fillingOf(folder) && !order.isProven) return true;
  const root = folderPath(context, folder.run, folder.task);
  const paths = madeIn(root, order.paths);
  if (paths.join('\n') !== Object.keys(noted.trees).toSorted().join('\n')) return false;
  for (const path of paths) {
    const looked = isPlaceIn(root, path) ? await lookAtTree(root, path) : undefined;
    if (looked?.type !== 'tree' || notedState(root, path, looked.tree.state) !== noted.trees[path]) return false;
  }
  if (findUsers(root).length > 0) return false;
  await noteReused(context, folder, order, noted.trees);
  return true;
}

/** A tree's state, with that of its top, which a rename changes. */
function notedState(root: string, path: string, state: string): string {
  const top = lookIn(root, path);
  return top === undefined ? '' : `${stateOf(top)} ${state}`;
}

/** Puts a copy of the original into the folder. false: there is none, or it cannot be put there. */
async function putMade(context: GitContext, folder: TaskFolder, order: MadeOrder): Promise<boolean> {
  const own = (await claimCopy(context, order.key)) ?? (await makeCopy(context, order.key, true));
  if (own === undefined) return false;
  const note = readKept(own);
  const root = folderPath(context, folder.run, folder.task);
  const paths = Object.keys(note?.trees ?? {}).filter((path) => isPlaceIn(root, path));
  const found = madeIn(root, order.paths);
  try {
    if (note === undefined || found.some((path) => !isPlaceIn(root, path))) return false;
    // From here on it is not what the note says.
    await noteReused(context, folder, order, undefined);
    for (const [index, path] of found.entries()) renameSync(pathIn(root, path), pathIn(filesOf(own), `-${index}`));
    failpoint('git.made-cleared');
    for (const path of paths) {
      renameSync(pathIn(filesOf(own), path), pathIn(root, path));
      failpoint('git.made-put');
    }
  } catch {
    // The run's folder is on another disk, or something is mounted there.
    return false;
  } finally {
    offer(context, own, 'old');
  }
  await noteReused(
    context,
    folder,
    order,
    Object.fromEntries(paths.map((path) => [path, notedState(root, path, note.trees[path]?.state ?? '')])),
  );
  touchKept(originalPlace(context, order.key));
  wanted(context).keys.set(order.step, order.key);
  return true;
}

async function claimCopy(context: GitContext, key: string): Promise<string | undefined> {
  for (const entry of listKept(context)) {
    if (entry.state !== 'copy' || readKept(entry.path)?.key !== key) continue;
    const own = claimKept(context, entry);
    if (own !== undefined) return own;
  }
  return undefined;
}

/** Makes a copy of the original of a key, which no process else uses. undefined: there is none, or it is not as it was kept. */
export async function makeCopy(context: GitContext, key: string, isUrgent: boolean): Promise<string | undefined> {
  const original = originalPlace(context, key);
  const note = readKept(original);
  if (note === undefined) return undefined;
  return inWork(context, async (own) => {
    const trees: KeptNote['trees'] = {};
    for (const [path, { shape, state }] of Object.entries(note.trees)) {
      makeAbove(filesOf(own), path);
      const copy = await copyTree(context, { from: filesOf(original), to: filesOf(own), path, shape }, isUrgent);
      // Looked at after the copying: what it was made of is what was kept.
      const looked = await lookAtTree(filesOf(original), path);
      const isSound = looked.type === 'tree' && looked.tree.state === state;
      if (!isSound) dropOriginal(context, original);
      if (copy === undefined || !isSound) return false;
      trees[path] = { shape, state: copy.state };
    }
    failpoint('git.made-copied');
    writeKept(own, { ...note, boot: readBootId(), trees });
    return true;
  });
}

/** Fills an entry of this process. undefined: it is to be deleted. */
async function inWork(context: GitContext, fill: (own: string) => Promise<boolean>): Promise<string | undefined> {
  const own = newWork(context);
  let isFull = false;
  try {
    isFull = await fill(own);
  } catch (error) {
    // A disk that is full: the command runs in the folder then.
    if (errorCode(error) === undefined) throw error;
  }
  if (isFull) return own;
  offer(context, own, 'old');
  return undefined;
}

function dropOriginal(context: GitContext, path: string): void {
  const own = claimKept(context, { path });
  if (own !== undefined) offer(context, own, 'old');
}

/** Keeps what the command made. Returns why it cannot be kept. */
async function keepMade(context: GitContext, folder: TaskFolder, order: MadeOrder): Promise<string | undefined> {
  const root = folderPath(context, folder.run, folder.task);
  const strict = { root, state: dirname(context.runsDirectory) };
  const paths = madeIn(root, order.paths);
  if (paths.length === 0) return `it made nothing at ${order.paths.join(', ')}`;
  const changed = await changesOf(context, folder);
  if (changed !== undefined) return changed;
  const trees: Record<string, MadeTree> = {};
  for (const path of paths) {
    if (!isPlaceIn(root, path)) return `${textOfPath(path)} is behind a link`;
    const looked = await lookAtTree(root, path, strict);
    if (looked.type === 'odd') return looked.why;
    trees[path] = looked.tree;
  }
  if (findUsers(root).length > 0) return 'a process that it started still works there';
  const bytes = Object.values(trees).reduce((sum, tree) => sum + tree.bytes, 0);
  if (freeBytes(context.runsDirectory) - bytes < context.spares.freeBytes)
    return 'too little would stay free on the disk';
  const why = await keepTrees(context, order, root, trees);
  if (why !== undefined) return why;
  const states = paths.map((path) => [path, notedState(root, path, trees[path]?.state ?? '')]);
  await noteReused(context, folder, order, Object.fromEntries(states));
  wanted(context).keys.set(order.step, order.key);
  return undefined;
}

/** A change of the command to files that git does not ignore. */
async function changesOf(context: GitContext, folder: TaskFolder): Promise<string | undefined> {
  const { place } = await lookAt(context, folder);
  const found = await findChanges(context, place);
  if ('type' in found) return 'its folder cannot be read';
  if (isSame(found)) return undefined;
  // A file that was written a moment ago may have changed, as far as its times say.
  const read = await readTree(context, place);
  if (read.type === 'unreadable') return `its folder cannot be read: ${read.reason}`;
  const [first] = await readRawDiff(context, place.call, place.tree, read.tree);
  return first === undefined ? undefined : `it changes ${textOfPath(first.path)}, which git does not ignore`;
}

async function keepTrees(
  context: GitContext,
  order: MadeOrder,
  root: string,
  trees: Readonly<Record<string, MadeTree>>,
): Promise<string | undefined> {
  let why: string | undefined;
  const own = await inWork(context, async (fresh) => {
    const kept: KeptNote['trees'] = {};
    for (const [path, { shape, state }] of Object.entries(trees)) {
      makeAbove(filesOf(fresh), path);
      const copy = await copyTree(context, { from: root, to: filesOf(fresh), path, shape }, true);
      failpoint('git.original-copied');
      const again = await lookAtTree(root, path);
      if (again.type === 'odd' || again.tree.state !== state) why = `${textOfPath(path)} changes while squad reads it`;
      if (copy === undefined || why !== undefined) return false;
      kept[path] = { shape, state: copy.state };
    }
    const isFlushed = await flush(context, originalsOf(context));
    writeKept(fresh, { key: order.key, step: order.step, ...(isFlushed ? {} : { boot: readBootId() }), trees: kept });
    failpoint('git.original-noted');
    return true;
  });
  if (own === undefined) return why ?? 'it cannot be copied';
  try {
    renameSync(own, originalPlace(context, order.key));
  } catch {
    // Another process has kept the same.
    offer(context, own, 'old');
  }
  failpoint('git.original-kept');
  return undefined;
}

async function readReused(context: GitContext, { run, task }: TaskFolder): Promise<Noted> {
  const text = await readPlain(notePath(context, run, `${task}.reused`)).catch(() => '');
  return noteSchema.safeParse(parseJson(text)).data ?? {};
}

async function noteReused(
  context: GitContext,
  folder: TaskFolder,
  { step, key }: MadeOrder,
  trees: Readonly<Record<string, string>> | undefined,
): Promise<void> {
  const known = await readReused(context, folder);
  if (trees === undefined && known[step] === undefined) return;
  const { [step]: _, ...others } = known;
  const noted = trees === undefined ? others : { ...others, [step]: { key, filling: fillingOf(folder), trees } };
  const path = notePath(context, folder.run, `${folder.task}.reused`);
  writeFileSync(`${path}.new`, JSON.stringify(noted), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
