import { mkdirSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { errorCode } from '../../../model/storage-error.ts';
import { parseJson } from '../../../text/json.ts';
import { orNothing } from '../../system/files/odd-entry.ts';
import { makeOwnFolder } from '../../system/files/own-folder.ts';
import { readPlainSync } from '../../system/files/read-plain.ts';
import { readBootId } from '../../system/process/process-table.ts';
import type { GitContext } from '../git-context.ts';
import { claimEntry, listEntries, offerEntry, ownEntry, type Entry } from '../spare/entries.ts';
import { poolOf } from '../spare/spare-pool.ts';

type Place = Pick<GitContext, 'runsDirectory'>;

const STATES = ['original', 'copy', 'old'] as const;

/**
 * Folders that commands of `setup` made. `original`: kept, and never given away. `copy`: ready to be given to a folder. `old`: to be
 * deleted.
 */
export type Kept = Entry<(typeof STATES)[number]>;

const FILES = 'files';
const NOTE = 'note.json';

const noteSchema = z.object({
  key: z.string(),
  /** The command that made it, as in `MadeOrder`. */
  step: z.string(),
  /** The start of the machine; absent: it was flushed, and no power cut can have damaged it. */
  boot: z.string().optional(),
  /** By path below the task's folder: the digests of its tree (`MadeTree`). */
  trees: z.record(z.string(), z.object({ shape: z.string(), state: z.string() })),
});
export type KeptNote = z.infer<typeof noteSchema>;

/** Beside the folders that no task has. */
export function originalsOf(context: Place): string {
  return join(poolOf(context), 'made');
}

export function listKept(context: Place): readonly Kept[] {
  return listEntries(originalsOf(context), STATES);
}

/** The place of the original of a key, whether it is there or not. */
export function originalPlace(context: Place, key: string): string {
  return join(originalsOf(context), `${key}.original`);
}

/** The place of a new entry of this process, which is empty. */
export function newWork(context: Place): string {
  makeOwnFolder(poolOf(context));
  makeOwnFolder(originalsOf(context));
  const path = ownEntry(originalsOf(context));
  mkdirSync(filesOf(path), { recursive: true, mode: 0o700 });
  return path;
}

/** See `claimEntry`. */
export function claimKept(context: Place, { path }: Pick<Kept, 'path'>): string | undefined {
  return claimEntry(originalsOf(context), path);
}

/** Offers an entry of this process to everybody, or leaves it to be deleted. */
export function offer(context: Place, own: string, state: 'copy' | 'old'): void {
  try {
    offerEntry(originalsOf(context), own, state);
  } catch (error) {
    // `squad clean` has deleted it.
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

export function filesOf(entry: string): string {
  return join(entry, FILES);
}

/** undefined: it is not whole, or was written before the machine last started and not flushed. */
export function readKept(entry: string): KeptNote | undefined {
  try {
    const note = noteSchema.safeParse(parseJson(readPlainSync(join(entry, NOTE)))).data;
    return note?.boot === undefined || note.boot === readBootId() ? note : undefined;
  } catch {
    return undefined;
  }
}

export function writeKept(entry: string, note: KeptNote): void {
  const path = join(entry, NOTE);
  writeFileSync(`${path}.new`, JSON.stringify(note), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** It is among the newest ones from now on. */
export function touchKept(entry: string): void {
  const now = new Date();
  orNothing(() => utimesSync(join(entry, NOTE), now, now));
}

/** When it was made or last used. */
export function usedAt(entry: string): number {
  return orNothing(() => statSync(join(entry, NOTE)).mtimeMs) ?? 0;
}
