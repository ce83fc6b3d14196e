import { errorText } from '../../../model/errors.ts';
import { randomUUID } from 'node:crypto';
import { constants, lstatSync, readlinkSync } from 'node:fs';
import { chmod, open, readdir, rename, rm, rmdir, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { findMount } from './find-mount.ts';

/** Opens a folder without any permission on it, so that squad can grant some. Linux only; Node has no name for it. */
const O_PATH = 0o10_000_000;
const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Deeper folders are moved up, because each level keeps a handle open. */
const MOST_LEVELS = 32;
const AT_ONCE = 16;
/** Gives up on a folder in which another process keeps creating files. */
const MOST_ROUNDS = 1000;

/**
 * Never follows a link, even if folders are replaced meanwhile (bar S3), which `rm` does not guarantee; it is used on other systems than
 * Linux. Makes read-only folders (Go's module cache) writable first. Throws the system's error, and where something is mounted in it.
 */
export async function removeTree(path: string): Promise<void> {
  // Often nothing is there, and a wait for another thread takes longer than the look.
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return;
  if (process.platform !== 'linux') return rm(path, { recursive: true, force: true });
  const parent = await openFolder(dirname(path));
  if (parent === undefined) return;
  try {
    await removeEntry(parent, Buffer.from(basename(path)), { top: undefined, level: 0 });
  } finally {
    await parent.close();
  }
}

interface Depth {
  /** Receives folders that are too deep. */
  readonly top: FileHandle | undefined;
  readonly level: number;
}

async function removeEntry(parent: FileHandle, name: Buffer, depth: Depth): Promise<void> {
  const path = within(parent, name);
  if (depth.level === 0 && (await isUnlinked(path))) return;
  // Something that is mounted there belongs elsewhere, and would be emptied.
  const place = depth.level === 0 ? findMount(join(readlinkSync(within(parent), 'utf8'), name.toString())) : undefined;
  if (place !== undefined) throw new Error(`something is mounted at ${place}; unmount it with \`umount ${place}\``);
  const folder = await openFolder(path);
  if (folder === undefined) {
    // It was replaced and is no folder any more.
    if (await isUnlinked(path)) return;
    throw new Error(`${name.toString()} cannot be removed`);
  }
  try {
    await chmod(within(folder), 0o700);
    if (depth.top !== undefined && depth.level > MOST_LEVELS) {
      return await rename(path, within(depth.top, Buffer.from(`removing-${randomUUID()}`)));
    }
    await clear(folder, { top: depth.top ?? folder, level: depth.level + 1 });
  } finally {
    await folder.close();
  }
  await rmdir(path);
}

/** Repeats until the folder is empty, because folders that were too deep are moved into it. */
async function clear(folder: FileHandle, depth: Depth): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    // As bytes, because a name need not be valid UTF-8.
    const names = await readdir(within(folder), { encoding: 'buffer' });
    if (names.length === 0) return;
    const folders: Buffer[] = [];
    for (let from = 0; from < names.length; from += AT_ONCE) {
      const some = names.slice(from, from + AT_ONCE);
      const unlinked = await Promise.all(some.map(async (name) => isUnlinked(within(folder, name))));
      folders.push(...some.filter((_name, index) => unlinked[index] !== true));
    }
    // One after the other, which bounds the open handles.
    for (const name of folders) await removeEntry(folder, name, depth);
  }
}

/** false: it is a folder. */
async function isUnlinked(path: Buffer): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return true;
    // The errors of Linux and POSIX for a folder.
    if (code === 'EISDIR' || code === 'EPERM') return false;
    throw error;
  }
}

async function openFolder(path: string | Buffer): Promise<FileHandle | undefined> {
  try {
    return await open(path, FOLDER);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return undefined;
    throw error;
  }
}

/** The kernel's path of an open folder, or of a name in it, which no rename changes. */
function within(folder: FileHandle, name?: Buffer): Buffer {
  const path = `/proc/self/fd/${folder.fd}`;
  return name === undefined ? Buffer.from(path) : Buffer.concat([Buffer.from(`${path}/`), name]);
}

/** As `removeTree`; returns why it failed instead of throwing, or undefined. */
export async function deleteFolder(path: string): Promise<string | undefined> {
  try {
    await removeTree(path);
    return undefined;
  } catch (error) {
    return errorText(error);
  }
}
