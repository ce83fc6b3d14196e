import { closeSync, openSync, readSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../../text/json.ts';
import { orNothing } from '../../system/files/odd-entry.ts';
import { makeOwnFolder } from '../../system/files/own-folder.ts';
import { readPlainSync } from '../../system/files/read-plain.ts';
import { isCommitId } from '../git-call.ts';
import type { GitContext } from '../git-context.ts';
import { hasExactTimes } from '../settled-folders.ts';
import { claimEntry, listEntries, offerEntry, ownEntry, type Entry } from './entries.ts';

const STATES = ['ready', 'left'] as const;

/**
 * A folder that no task has, beside those of the runs. `ready`: the files of a commit and nothing else. `left`: as a task left it; its
 * work is kept.
 */
export type SpareEntry = Entry<(typeof STATES)[number]>;

/** Names in an entry. */
export const FILES = 'files';
export const INDEX = 'index';
const NOTE = 'note.json';
/** Beside the entries. */
const MOST = 'most';
const SPARSE = 'sparse';

export function poolOf({ runsDirectory }: Pick<GitContext, 'runsDirectory'>): string {
  return join(runsDirectory, '.spare');
}

export function listPool(context: Pick<GitContext, 'runsDirectory'>): readonly SpareEntry[] {
  return listEntries(poolOf(context), STATES);
}

/** See `claimEntry`. */
export function claim(
  context: Pick<GitContext, 'runsDirectory'>,
  { path }: Pick<SpareEntry, 'path'>,
): string | undefined {
  return claimEntry(poolOf(context), path);
}

/** The place of a new entry of this process. Makes the pool, and nothing in it. */
export function newEntry(context: Pick<GitContext, 'runsDirectory'>): string {
  makeOwnFolder(poolOf(context));
  return ownEntry(poolOf(context));
}

/** Offers a finished entry to everybody. */
export function release(context: Pick<GitContext, 'runsDirectory'>, own: string, state: 'ready' | 'left'): void {
  offerEntry(poolOf(context), own, state);
}

const noteSchema = z.object({
  commit: z.string().refine(isCommitId),
  /** The start of the machine: a power cut may have damaged what was written before it. */
  boot: z.string(),
  /** Which settings of the repository say how files are written, as one digest. */
  settings: z.string(),
  /** Names and times of all folders in it, as one digest. */
  folders: z.string(),
});
export type SpareNote = z.infer<typeof noteSchema>;

export function notePlace(entry: string): string {
  return join(entry, NOTE);
}

export function readSpareNote(entry: string): SpareNote | undefined {
  try {
    return noteSchema.safeParse(parseJson(readPlainSync(notePlace(entry)))).data;
  } catch {
    return undefined;
  }
}

/** How many are kept, and the bytes that stay free: as the settings say, or as those of the last run said. */
export function wantedOf(context: Pick<GitContext, 'runsDirectory' | 'spares'>) {
  const { most, freeBytes: free } = context.spares;
  if (most !== 'as-before') return { most, free };
  try {
    const [before = 0, left = NaN] = readPlainSync(join(poolOf(context), MOST))
      .split(' ')
      .map(Number);
    return { most: before || 0, free: Number.isNaN(left) ? free : left };
  } catch {
    return { most: 0, free };
  }
}

/** The part of the repository that they have: as the settings say, or as those of the last run said. */
export function sparseOf(context: Pick<GitContext, 'runsDirectory' | 'spares' | 'sparse'>): GitContext['sparse'] {
  const { spares, sparse } = context;
  if (spares.most !== 'as-before') return sparse;
  const noted = orNothing(() => readPlainSync(join(poolOf(context), SPARSE)));
  return z
    .array(z.string())
    .optional()
    .catch(undefined)
    .parse(parseJson(noted ?? ''));
}

/** For a process that tidies after the run. */
export function noteWanted(context: Pick<GitContext, 'runsDirectory' | 'spares' | 'sparse'>): void {
  const last = { ...context, spares: { ...context.spares, most: 'as-before' } } as const;
  const [now, before] = [wantedOf(context), wantedOf(last)];
  if (now.most !== before.most || now.free !== before.free) {
    makeOwnFolder(poolOf(context));
    writeFileSync(join(poolOf(context), MOST), `${now.most} ${now.free}`, { mode: 0o600 });
  }
  const sparse = JSON.stringify(context.sparse);
  if (context.spares.most === 'as-before' || JSON.stringify(sparseOf(last)) === sparse) return;
  if (sparse === undefined) rmSync(join(poolOf(context), SPARSE), { force: true });
  else writeFileSync(join(poolOf(context), SPARSE), sparse, { mode: 0o600 });
}

/** Bytes that a person can still write there; infinite if the system does not say. */
export function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Whether folders are used again in this repository: they are many, and the file system tells each change of a file. */
export function usesSpares(context: GitContext): boolean {
  const { spares, commonDirectory, runsDirectory } = context;
  if (wantedOf(context).most === 0) return false;
  return countOf(join(commonDirectory, 'index')) >= spares.from && hasExactTimes(dirname(runsDirectory));
}

const HEADER = 12;

/** Files in an index, by its header. */
function countOf(index: string): number {
  let file: number | undefined;
  try {
    file = openSync(index, 'r');
    const bytes = Buffer.alloc(HEADER);
    return readSync(file, bytes) < HEADER ? 0 : bytes.readUInt32BE(HEADER - 4);
  } catch {
    return 0;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
