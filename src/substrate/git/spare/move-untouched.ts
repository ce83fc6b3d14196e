import { chmodSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { orNothing } from '../../system/files/odd-entry.ts';
import { lookIn, pathIn } from '../../system/files/plain-folder.ts';
import { isAsWritten, type IndexEntry, type IndexFile } from '../index-file.ts';
import { LINK_MODE, REPOSITORY_MODE } from '../raw-diff.ts';
import { stateOf, TICK_NS, type FolderStates } from './folder-states.ts';

/** Time for other work of the engine, after so many milliseconds. */
const SLICE_MS = 10;
const OWNER = 0o700n;

interface Filled {
  readonly file: IndexFile;
  /** When the index was. */
  readonly written: bigint;
  /** How its folders were right after they were filled. */
  readonly states: FolderStates;
}

/**
 * Moves what is as git wrote it to an empty folder, by times of the system that no program can set: folders as they were in one piece,
 * and files out of others, which are made anew. No process may be at work there.
 */
export async function moveUntouched(from: string, to: string, filled: Filled): Promise<void> {
  const top = lookIn(from, '');
  if (top?.isDirectory() !== true) return;
  const state = { from, to, device: top.dev, ...filled };
  const untouched = await findUntouched(state);
  const whole = findWhole(state, untouched);
  const [real, moved] = [new Set<string>(), new Set<string>()];
  for (const folder of [...filled.file.folders.keys()].toSorted(byDepth)) {
    const isWhole = whole.has(folder) && real.has(above(folder));
    if (moved.has(above(folder)) || (isWhole && move(state, folder))) moved.add(folder);
    else if (enter(state, folder, real)) {
      for (const path of untouched.get(folder) ?? []) move(state, path);
    }
  }
}

interface Move extends Filled {
  readonly from: string;
  readonly to: string;
  readonly device: bigint;
}

/** By folder, the paths of its files that are as they were. */
async function findUntouched(state: Move): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>();
  let slice = performance.now();
  for (const [folder, files] of state.file.folders) {
    found.set(
      folder,
      [...files.values()].filter((entry) => isUntouched(state, entry)).map(({ path }) => path),
    );
    if (performance.now() - slice < SLICE_MS) continue;
    await new Promise((resolve) => setImmediate(resolve));
    slice = performance.now();
  }
  return found;
}

/** Folders that are as they were, with all that is in them. The top is none: it gets another git directory. */
function findWhole(state: Move, untouched: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const whole = new Set<string>();
  const inside = new Map<string, string[]>();
  for (const folder of [...state.file.folders.keys()].toSorted(byDepth).toReversed()) {
    if (folder === '') break;
    const folders = inside.get(folder) ?? [];
    const files = untouched.get(folder) ?? [];
    const isWhole = folders.every((one) => whole.has(one)) && files.length === state.file.folders.get(folder)?.size;
    if (isWhole && isSame(state, folder, files.length + folders.length)) whole.add(folder);
    inside.set(above(folder), [...(inside.get(above(folder)) ?? []), folder]);
  }
  return whole;
}

/** `count`: of its entries, as far as the index has them. */
function isSame({ from, states }: Move, folder: string, count: number): boolean {
  const found = lookIn(from, folder);
  if (found?.isDirectory() !== true || stateOf(found) !== states.get(folder)) return false;
  return orNothing(() => readdirSync(pathIn(from, folder), 'buffer').length) === count;
}

function byDepth(one: string, other: string): number {
  return depthOf(one) - depthOf(other);
}

function depthOf(folder: string): number {
  return folder === '' ? 0 : folder.split('/').length;
}

function above(folder: string): string {
  return folder.slice(0, Math.max(folder.lastIndexOf('/'), 0));
}

/** Makes a folder again. false: there is a link or something else in its place, and nothing below it counts. */
function enter({ from, to, device }: Move, folder: string, real: Set<string>): boolean {
  if (folder !== '' && !real.has(above(folder))) return false;
  const path = pathIn(from, folder);
  const found = lookIn(from, folder);
  if (found?.isDirectory() !== true || found.dev !== device) return false;
  try {
    if ((found.mode & OWNER) !== OWNER) chmodSync(path, 0o700);
    if (folder !== '') mkdirSync(pathIn(to, folder));
  } catch {
    return false;
  }
  real.add(folder);
  return true;
}

function isUntouched({ from, file, written, device }: Move, entry: IndexEntry): boolean {
  if (entry.mode === REPOSITORY_MODE || entry.mode === LINK_MODE || entry.skipped) return false;
  const found = lookIn(from, entry.path);
  if (found?.isFile() !== true || found.dev !== device || found.nlink !== 1n) return false;
  return found.ctimeNs + TICK_NS < written && isAsWritten(file, entry, found, written, true);
}

/** false: something is mounted there, or it cannot be moved. git writes it again. */
function move({ from, to }: Move, path: string): boolean {
  try {
    renameSync(pathIn(from, path), pathIn(to, path));
    return true;
  } catch {
    return false;
  }
}
