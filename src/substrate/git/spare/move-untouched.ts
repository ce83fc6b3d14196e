import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, renameSync, type BigIntStats } from 'node:fs';
import { orNothing } from '../../system/files/odd-entry.ts';
import { bytesOf } from '../../system/files/plain-folder.ts';
import { isAsWritten, type IndexEntry, type IndexFile } from '../index-file.ts';
import { LINK_MODE, REPOSITORY_MODE } from '../raw-diff.ts';

/** The system's clock for files ticks at least so often: a file that was changed within one tick has equal times. */
const TICK_NS = 20_000_000n;
/** Time for other work of the engine, after so many milliseconds. */
const SLICE_MS = 10;
const OWNER = 0o700n;

/**
 * Moves the files of which the system says that nothing has changed since git wrote them to an empty folder. No program can set the
 * time of a change of content, mode, owner, links or attributes. Folders are made anew. No process may be at work there.
 */
export async function moveUntouched(
  from: string,
  to: string,
  { file, written }: { readonly file: IndexFile; readonly written: bigint },
): Promise<void> {
  const top = look(from);
  if (top?.isDirectory() !== true) return;
  const state = { from, to, device: top.dev, written, file };
  let slice = performance.now();
  const real = new Set<string>();
  for (const [folder, files] of [...file.folders].toSorted(byDepth)) {
    if (!enter(state, folder, real)) continue;
    for (const [name, entry] of files) {
      if (isUntouched(state, entry)) move(state, folder === '' ? name : `${folder}/${name}`);
    }
    if (performance.now() - slice < SLICE_MS) continue;
    await new Promise((resolve) => setImmediate(resolve));
    slice = performance.now();
  }
}

interface Move {
  readonly from: string;
  readonly to: string;
  readonly device: bigint;
  readonly written: bigint;
  readonly file: IndexFile;
}

function byDepth([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one.split('/').length - other.split('/').length;
}

/** Makes a folder again. false: there is a link or something else in its place, and nothing below it counts. */
function enter({ from, to, device }: Move, folder: string, real: Set<string>): boolean {
  const above = folder.includes('/') ? folder.slice(0, folder.lastIndexOf('/')) : '';
  if (folder !== '' && !real.has(above)) return false;
  const path = at(from, folder);
  const found = look(path);
  if (found?.isDirectory() !== true || found.dev !== device) return false;
  try {
    if ((found.mode & OWNER) !== OWNER) chmodSync(path, 0o700);
    if (folder !== '') mkdirSync(at(to, folder));
  } catch {
    return false;
  }
  real.add(folder);
  return true;
}

function isUntouched({ from, file, written, device }: Move, entry: IndexEntry): boolean {
  if (entry.mode === REPOSITORY_MODE || entry.mode === LINK_MODE || entry.skipped) return false;
  const found = look(at(from, entry.path));
  if (found?.isFile() !== true || found.dev !== device || found.nlink !== 1n) return false;
  return found.ctimeNs + TICK_NS < written && isAsWritten(file, entry, found, written, true);
}

function move({ from, to }: Move, path: string): void {
  try {
    renameSync(at(from, path), at(to, path));
  } catch {
    // Something is mounted there, or it cannot be moved. git writes the file again.
  }
}

/**
 * One digest for the names and times of all folders of an index, and of the places of its repositories. While it is the same, no entry
 * came or went. undefined: one is missing.
 */
export function digestOfFolders(root: string, file: IndexFile): string | undefined {
  const hash = createHash('sha256');
  const repositories = [...file.entries.values()].filter(({ mode }) => mode === REPOSITORY_MODE);
  for (const path of [...file.folders.keys(), ...repositories.map((entry) => entry.path)]) {
    const found = look(at(root, path));
    if (found?.isDirectory() !== true) return undefined;
    hash.update(`${path}\0${found.dev} ${found.ino} ${found.mode} ${found.uid} ${found.ctimeNs}\n`);
  }
  return hash.digest('hex');
}

function at(root: string, path: string): string | Buffer {
  return path === '' ? root : bytesOf(`${Buffer.from(root).toString('latin1')}/${path}`);
}

function look(path: string | Buffer): BigIntStats | undefined {
  return orNothing(() => lstatSync(path, { bigint: true }));
}
