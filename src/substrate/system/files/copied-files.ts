import { createHash, randomUUID } from 'node:crypto';
import { constants, type BigIntStats } from 'node:fs';
import { lstat, mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MOST_COPY_BYTES, type CopiedFile } from '../../../model/copied-file.ts';
import { badInput, isSquadError, type SquadError } from '../../../model/errors.ts';
import { errorCode, storageError } from '../../../model/storage-error.ts';
import { byteCount } from '../../../text/byte-count.ts';
import { openConfined } from './open-confined.ts';
import { deleteFolder } from './remove-tree.ts';

const CHUNK = 64 * 1024;

export type CopyRead =
  | { readonly type: 'file'; readonly file: CopiedFile }
  | { readonly type: 'refused'; readonly why: string };

/** Reads a file of the checkout a piece at a time. No link is followed, and nothing but a plain file is opened for long. */
export async function readCopy(
  root: string,
  path: string,
  onPiece: (piece: Buffer) => Promise<void> = async () => undefined,
): Promise<CopyRead> {
  // oxlint-disable-next-line no-control-regex -- these are meant
  if (/[\u0000-\u001F\u007F]/.test(path)) return { type: 'refused', why: 'has a control character in its name' };
  try {
    const link = await findLink(root, path);
    if (link !== undefined) return { type: 'refused', why: link === path ? 'is a link' : `is behind the link ${link}` };
    const opened = await openConfined(root, path);
    if (opened.type === 'refused') return opened;
    try {
      return await readOpen(opened.file, path, onPiece);
    } finally {
      await opened.file.close();
    }
  } catch (error) {
    const code = errorCode(error) ?? '';
    if (['ENOENT', 'ENOTDIR'].includes(code)) return { type: 'refused', why: 'is not there any more' };
    if (code === 'ENXIO') return { type: 'refused', why: 'is not a regular file' };
    if (['EACCES', 'EPERM', 'ELOOP'].includes(code)) return { type: 'refused', why: `cannot be read (${code})` };
    throw error;
  }
}

/** The topmost link on the way to a file; undefined: there is none. */
async function findLink(root: string, path: string): Promise<string | undefined> {
  const names = path.split('/');
  for (const index of names.keys()) {
    const part = names.slice(0, index + 1).join('/');
    if ((await lstat(join(root, part))).isSymbolicLink()) return part;
  }
  return undefined;
}

async function readOpen(file: FileHandle, path: string, onPiece: (piece: Buffer) => Promise<void>): Promise<CopyRead> {
  const before = await file.stat({ bigint: true });
  if (before.size > MOST_COPY_BYTES) return { type: 'refused', why: `is larger than ${byteCount(MOST_COPY_BYTES)}` };
  const hash = createHash('sha256');
  let bytes = 0;
  for (const buffer = Buffer.alloc(CHUNK); ;) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK, null);
    if (bytesRead === 0) break;
    bytes += bytesRead;
    if (bytes > before.size) return { type: 'refused', why: CHANGING };
    hash.update(buffer.subarray(0, bytesRead));
    await onPiece(buffer.subarray(0, bytesRead));
  }
  if (!isSame(before, await file.stat({ bigint: true }))) return { type: 'refused', why: CHANGING };
  const executable = (before.mode & 0o100n) !== 0n;
  return { type: 'file', file: { path, bytes, hash: hash.digest('hex'), executable } };
}

const CHANGING = 'changes while squad reads it';

function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return one.size === other.size && one.mtimeNs === other.mtimeNs && one.ctimeNs === other.ctimeNs;
}

/** Keeps the files of the checkout in squad's own folder, each under its hash, as they were when a person agreed to them. */
export async function keepCopies(root: string, kept: string, files: readonly CopiedFile[]): Promise<void> {
  if (files.length === 0) return;
  try {
    await mkdir(kept, { recursive: true, mode: 0o700 });
    for (const file of files) await keepOne(root, kept, file);
  } catch (error) {
    throw isSquadError(error) ? error : storageError(kept, error);
  }
}

async function keepOne(root: string, kept: string, { path, hash, executable }: CopiedFile): Promise<void> {
  const fresh = join(kept, `.new-${randomUUID()}`);
  const into = await open(fresh, 'wx', 0o600);
  try {
    const read = await readCopy(root, path, async (piece) => into.writeFile(piece));
    if (read.type === 'refused') throw changed(path, read.why);
    if (read.file.hash !== hash || read.file.executable !== executable) throw changed(path, 'has changed meanwhile');
    await into.sync();
    await rename(fresh, join(kept, hash));
  } finally {
    await into.close();
    await rm(fresh, { force: true });
  }
}

function changed(path: string, why: string): SquadError {
  return badInput(`${path}, which the run copies into its folders, ${why}`, 'Run the command again.');
}

/**
 * Puts the kept files into a folder where no process works. One that is there as it was kept stays; whatever else is in its place goes,
 * links and folders too. Throws if a kept content is gone or damaged.
 */
export async function putCopies(kept: string, folder: string, files: readonly CopiedFile[]): Promise<void> {
  for (const file of files) {
    await makeWay(folder, file.path);
    if (await isThere(join(folder, file.path), file)) continue;
    await putOne(join(kept, file.hash), join(folder, file.path), file);
  }
}

/** Takes them away again, whatever is in their place. Folders stay. */
export async function takeOutCopies(folder: string, files: readonly CopiedFile[]): Promise<void> {
  for (const { path } of files) {
    const link = await findLink(folder, path).catch(() => '');
    if (link === undefined || link === path) await deleteFolder(join(folder, path));
  }
}

/** The folders on the way are folders of this one. */
async function makeWay(folder: string, path: string): Promise<void> {
  const names = path.split('/').slice(0, -1);
  for (const index of names.keys()) {
    const part = join(folder, ...names.slice(0, index + 1));
    const found = await lstat(part).catch(() => undefined);
    if (found?.isDirectory() === true) continue;
    if (found !== undefined) await deleteFolder(part);
    await mkdir(part);
  }
}

async function isThere(path: string, { bytes, hash, executable }: CopiedFile): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  // A second name of it may be anywhere.
  if (found?.isFile() !== true || found.size !== bytes || found.nlink !== 1) return false;
  if ((found.mode & 0o777) !== modeOf(executable)) return false;
  const read = await readCopy(dirname(path), path.slice(path.lastIndexOf('/') + 1));
  return read.type === 'file' && read.file.hash === hash;
}

async function putOne(from: string, path: string, { hash, executable }: CopiedFile): Promise<void> {
  // In the folder of its place, because a rename does not cross file systems.
  const fresh = join(dirname(path), `.squad-new-${randomUUID()}`);
  const into = await open(
    fresh,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o600,
  );
  try {
    const read = await readCopy(dirname(from), hash, async (piece) => into.writeFile(piece));
    if (read.type === 'refused' || read.file.hash !== hash) throw lost(from);
    await into.chmod(modeOf(executable));
    if ((await lstat(path).catch(() => undefined))?.isDirectory() === true) await deleteFolder(path);
    await rename(fresh, path);
  } finally {
    await into.close();
    await rm(fresh, { force: true });
  }
}

function modeOf(executable: boolean): number {
  return executable ? 0o700 : 0o600;
}

function lost(path: string): SquadError {
  return badInput(
    `${path}, the copy of a file that the run began with, is gone or damaged`,
    'Start a new run: this one must not check with another content.',
  );
}
