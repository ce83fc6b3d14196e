import { errorText } from '../../model/errors.ts';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, open, readdir, rename, rm, rmdir, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

/** A handle that needs no permission on the folder itself, and so can give it some. Linux's own; Node does not name it. */
const O_PATH = 0o10_000_000;
const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Deeper folders are moved up: each level holds one open. */
const MOST_LEVELS = 32;
const AT_ONCE = 16;
/** Whoever still makes files there is not waited for. */
const MOST_ROUNDS = 1000;

/**
 * Deletes what is there and everything below it, and never follows a link, whoever exchanges folders meanwhile (bar S3):
 * `rm` looks first and goes by the path afterwards. Folders that cannot be written are opened on the way: package managers
 * leave such (Go's module cache). Throws the system's error. Elsewhere than on Linux this is `rm`.
 */
export async function removeTree(path: string): Promise<void> {
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
  /** Where too deep folders are moved to. */
  readonly top: FileHandle | undefined;
  readonly level: number;
}

async function removeEntry(parent: FileHandle, name: Buffer, depth: Depth): Promise<void> {
  const path = within(parent, name);
  if (depth.level === 0 && (await isUnlinked(path))) return;
  const folder = await openFolder(path);
  if (folder === undefined) {
    // Exchanged since: whatever it is now, it is unlinked as it is.
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

/** Again while something is there: what was too deep has come up. */
async function clear(folder: FileHandle, depth: Depth): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    // Bytes: a name need not be UTF-8, and as a text it would be another one.
    const names = await readdir(within(folder), { encoding: 'buffer' });
    if (names.length === 0) return;
    const folders: Buffer[] = [];
    for (let from = 0; from < names.length; from += AT_ONCE) {
      const some = names.slice(from, from + AT_ONCE);
      const unlinked = await Promise.all(some.map(async (name) => isUnlinked(within(folder, name))));
      folders.push(...some.filter((_name, index) => unlinked[index] !== true));
    }
    // One after the other, or the handles would be as many as the tree is wide.
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
    // What Linux and POSIX say of a folder.
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

/** The kernel's own name of an open folder, which no rename changes, or of something in it. */
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
