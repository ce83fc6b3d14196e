import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { open, realpath, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { confine, isWithin } from './confine.ts';

type Opened =
  | { readonly type: 'opened'; readonly file: FileHandle }
  | { readonly type: 'refused'; readonly why: string };

/** Non-blocking, because an agent may plant a pipe. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const FOLDER = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY;
/** Some files that have something say that they are empty. */
const LEAST_BUFFER = 4096;

/**
 * Opens a regular file below a folder, safe against concurrent changes (bar S3). Follows a link only if it stays inside. Throws `bad-input`
 * for a path that is not plain, and the system's error. The caller closes the file.
 */
export async function openConfined(root: string, path: string): Promise<Opened> {
  return process.platform === 'linux' ? openByWalk(root, path) : openByPath(root, path);
}

/** The first bytes of such a file as text; undefined: it is missing or cannot be read. */
export async function readConfinedStart(
  root: string,
  path: string,
  mostBytes: number,
): Promise<{ readonly text: string; readonly cut: boolean } | undefined> {
  try {
    const opened = await openConfined(root, path);
    if (opened.type === 'refused') return undefined;
    try {
      const { fd } = opened.file;
      const buffer = Buffer.alloc(Math.min(mostBytes, Math.max(fstatSync(fd).size, LEAST_BUFFER)) + 1);
      const bytesRead = readSync(fd, buffer, 0, buffer.length, 0);
      return { text: buffer.toString('utf8', 0, Math.min(bytesRead, mostBytes)), cut: bytesRead > mostBytes };
    } finally {
      await opened.file.close();
    }
  } catch {
    // Missing or unreadable, which is the same for callers.
    return undefined;
  }
}

/** Opens each folder in the open folder above it, so that no folder on the way can be replaced. */
export async function openByWalk(root: string, path: string): Promise<Opened> {
  const [realRoot, real] = realPaths(root, path);
  if (!isWithin(realRoot, real)) return OUTSIDE;
  return judge(await walk(realRoot, relative(realRoot, real)));
}

/**
 * For systems without paths for open folders. Detects a folder that is replaced between the checks, unless it is replaced back
 * in time.
 */
export async function openByPath(root: string, path: string): Promise<Opened> {
  const [realRoot, real] = realPaths(root, path);
  if (!isWithin(realRoot, real)) return OUTSIDE;
  const file = await open(real, READ);
  try {
    const [found, there, again] = await Promise.all([file.stat(), stat(real), realpath(real)]);
    if (again === real && found.dev === there.dev && found.ino === there.ino) return await judge(file);
  } catch {
    // The file is gone by now.
  }
  await file.close();
  return { type: 'refused', why: 'was replaced while it was opened' };
}

const OUTSIDE: Opened = { type: 'refused', why: 'is a link to a place outside the repository' };

function realPaths(root: string, path: string): [string, string] {
  const confined = confine(root, path);
  return [realpathSync.native(root), realpathSync.native(confined)];
}

/** Without a wait for another thread at each folder. */
async function walk(root: string, path: string): Promise<FileHandle> {
  const folders = dirname(path)
    .split(sep)
    .filter((name) => name !== '.');
  let folder = openSync(root, FOLDER);
  try {
    for (const name of folders) {
      const next = openSync(within(folder, name), FOLDER);
      closeSync(folder);
      folder = next;
    }
    return await open(within(folder, path.slice(path.lastIndexOf(sep) + 1)), READ);
  } finally {
    closeSync(folder);
  }
}

/** The kernel's path of a name in an open folder, which no rename changes. */
function within(folder: number, name: string): string {
  return join(`/proc/self/fd/${folder}`, name);
}

async function judge(file: FileHandle): Promise<Opened> {
  try {
    const found = fstatSync(file.fd);
    if (found.isFile()) return { type: 'opened', file };
    await file.close();
    return { type: 'refused', why: found.isDirectory() ? 'is a folder' : 'is not a regular file' };
  } catch (error) {
    await file.close();
    throw error;
  }
}
