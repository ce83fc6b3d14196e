import { constants } from 'node:fs';
import { open, realpath, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { confine, isWithin } from './confine.ts';

export type Opened =
  | { readonly type: 'opened'; readonly file: FileHandle }
  | { readonly type: 'refused'; readonly why: string };

/** Not blocking: a pipe that was planted there would hold squad up for ever. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const FOLDER = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY;

/**
 * A regular file below a folder, open for reading, whoever else writes there meanwhile (bar S3). A link counts only if it
 * stays inside. Throws `bad-input` for what is no plain path, and the system's error when there is nothing to open. The
 * caller closes the file.
 */
export async function openConfined(root: string, path: string): Promise<Opened> {
  return process.platform === 'linux' ? openByWalk(root, path) : openByPath(root, path);
}

/** The beginning of such a file as text; undefined: there is none, or it is none of ours to read. */
export async function readConfinedStart(
  root: string,
  path: string,
  mostBytes: number,
): Promise<{ readonly text: string; readonly cut: boolean } | undefined> {
  try {
    const opened = await openConfined(root, path);
    if (opened.type === 'refused') return undefined;
    try {
      const buffer = Buffer.alloc(mostBytes + 1);
      const { bytesRead } = await opened.file.read(buffer, 0, buffer.length, 0);
      return { text: buffer.toString('utf8', 0, Math.min(bytesRead, mostBytes)), cut: bytesRead > mostBytes };
    } finally {
      await opened.file.close();
    }
  } catch {
    // Not there, or it cannot be read: what callers do without it is the same.
    return undefined;
  }
}

/** From the root down, each folder held open while the next is opened in it: nothing on the way can be exchanged. */
export async function openByWalk(root: string, path: string): Promise<Opened> {
  const [realRoot, real] = await realPaths(root, path);
  if (!isWithin(realRoot, real)) return OUTSIDE;
  return judge(await walk(realRoot, relative(realRoot, real)));
}

/**
 * Where no open folder has a path of its own. Whoever exchanges a folder between two of these looks is seen by the last,
 * unless he exchanges it back and again just in time.
 */
export async function openByPath(root: string, path: string): Promise<Opened> {
  const [realRoot, real] = await realPaths(root, path);
  if (!isWithin(realRoot, real)) return OUTSIDE;
  const file = await open(real, READ);
  try {
    const [found, there, again] = await Promise.all([file.stat(), stat(real), realpath(real)]);
    if (again === real && found.dev === there.dev && found.ino === there.ino) return await judge(file);
  } catch {
    // It is gone by now: as exchanged as it can be.
  }
  await file.close();
  return { type: 'refused', why: 'was exchanged while it was opened' };
}

const OUTSIDE: Opened = { type: 'refused', why: 'is a link to a place outside the repository' };

async function realPaths(root: string, path: string): Promise<[string, string]> {
  const confined = confine(root, path);
  return Promise.all([realpath(root), realpath(confined)]);
}

async function walk(root: string, path: string): Promise<FileHandle> {
  const folders = dirname(path)
    .split(sep)
    .filter((name) => name !== '.');
  let folder = await open(root, FOLDER);
  try {
    for (const name of folders) {
      const next = await open(within(folder, name), FOLDER);
      await folder.close();
      folder = next;
    }
    return await open(within(folder, path.slice(path.lastIndexOf(sep) + 1)), READ);
  } finally {
    await folder.close();
  }
}

/** The kernel's own name of an open folder, which no rename changes. */
function within(folder: FileHandle, name: string): string {
  return join(`/proc/self/fd/${folder.fd}`, name);
}

async function judge(file: FileHandle): Promise<Opened> {
  try {
    const found = await file.stat();
    if (found.isFile()) return { type: 'opened', file };
    await file.close();
    return { type: 'refused', why: found.isDirectory() ? 'is a folder' : 'is not a regular file' };
  } catch (error) {
    await file.close();
    throw error;
  }
}
