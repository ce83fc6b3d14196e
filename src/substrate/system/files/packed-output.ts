import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, rename, rm, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { failpoint } from '../failpoint.ts';
import { exists } from './exists.ts';

const OUTPUT = ['stdout', 'stderr'];
/** A smaller file takes a block of the disk in any case. */
const LEAST_BYTES = 4096;

/** The files of a settled turn that would be smaller if they were compressed, by their paths. */
export async function unpackedOutput(folder: string): Promise<string[]> {
  const paths = OUTPUT.map((name) => join(folder, name));
  const found = await Promise.all(paths.map(async (path) => lstat(path).catch(() => undefined)));
  return paths.filter((_, index) => found[index]?.isFile() === true && found[index].size >= LEAST_BYTES);
}

/** Compresses a file to which no process writes. A reader, and a crash at any moment, finds the one or the other. */
export async function packFile(path: string): Promise<void> {
  const fresh = `${packed(path)}.new`;
  await rm(fresh, { force: true });
  const source = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { atime, mtime } = await source.stat();
    const target = await open(fresh, 'wx', 0o600);
    try {
      await pipeline(chunksOf(source), createGzip(), writerOf(target));
      await target.utimes(atime, mtime);
      await target.sync();
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
  failpoint('keep.before-packed');
  await rename(fresh, packed(path));
  failpoint('keep.packed');
  await unlink(path);
}

async function* chunksOf(file: FileHandle): AsyncGenerator<Buffer> {
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, null);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

function writerOf(file: FileHandle) {
  return async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) await file.writeFile(chunk);
  };
}

const CHUNK_BYTES = 64 * 1024;

/** Opens the file, or the one that it was compressed to. Throws the system's error. */
export async function openOutput(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (!(await exists(packed(path)))) throw error;
    return unpack(packed(path));
  }
}

export async function hasOutput(path: string): Promise<boolean> {
  return (await exists(path)) || (await exists(packed(path)));
}

function packed(path: string): string {
  return `${path}.gz`;
}

/** Into a file without a name, because readers look for the last lines first. */
async function unpack(path: string): Promise<FileHandle> {
  const place = `${path}.${randomUUID()}.read`;
  const file = await open(place, 'wx+', 0o600);
  try {
    await unlink(place);
    const source = await open(path, 'r');
    try {
      await pipeline(chunksOf(source), createGunzip(), writerOf(file));
    } finally {
      await source.close();
    }
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
