import { join } from 'node:path';
import { SquadError } from '../../model/errors.ts';
import { byteCount } from '../../text/byte-count.ts';
import type { GitContext } from './git-context.ts';
import { readIndex } from './read-folder.ts';
import { freeBytes } from './spare/spare-pool.ts';

/** With more than this free, the size of a folder need not be known. */
const MUCH = 16 * 1024 ** 3;
/** File systems give out space in such pieces. */
const BLOCK = 4096;
/** For the git directory of a folder, and squad's notes about it. */
const BESIDES = 256 * 1024;
/** Where an entry of an index has the size of its file. */
const SIZE_AT = 36;

const known = new WeakMap<GitContext, number>();

/** Bytes that a folder with the files of a commit takes, about: by the index of the person's checkout. */
export function folderBytes(context: GitContext, commit: string): number {
  const found = known.get(context);
  if (found !== undefined) return found;
  const index = readIndex(join(context.commonDirectory, 'index'), commit);
  let bytes = BESIDES + (index?.file.bytes.length ?? 0);
  for (const { at } of index?.file.entries.values() ?? [])
    bytes += Math.ceil((index?.file.bytes.readUInt32BE(at + SIZE_AT) ?? 0) / BLOCK) * BLOCK;
  known.set(context, bytes);
  return bytes;
}

/** Throws `storage-full` where a new folder does not fit on the disk, before anything of it is there: then the run waits for a person. */
export function requireRoom(context: GitContext, task: string, commit: string): void {
  const free = freeBytes(context.runsDirectory);
  if (free > MUCH) return;
  const bytes = folderBytes(context, commit);
  if (free >= bytes) return;
  throw new SquadError({
    code: 'storage-full',
    message: `${context.runsDirectory}: the folder of ${task} takes ${byteCount(bytes)}, and ${byteCount(free)} are free on the disk; nothing of it was written.`,
    next: 'Free some space, for example with `squad clean`, then resume what was under way: `squad resume`.',
  });
}
